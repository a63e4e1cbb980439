/// Placeholder for the allowed origin in upper case.
pub(super) const UPPER_CASE: &str = "{ORIGIN}";
/// Placeholder for an origin that starts with the allowed one.
pub(super) const PREFIX: &str = "{origin-prefix}";
/// Placeholder for an origin that the allowed one starts with.
pub(super) const SHORTER: &str = "{origin-shorter}";
/// Placeholder for an origin that ends with the allowed host.
pub(super) const SUFFIX: &str = "{origin-suffix}";
/// Placeholder for a subdomain of the allowed host.
pub(super) const SUBDOMAIN: &str = "{origin-subdomain}";
/// Placeholder for the allowed host with another scheme.
pub(super) const SCHEME: &str = "{origin-scheme}";
/// Placeholder for the allowed host with another port.
pub(super) const PORT: &str = "{origin-port}";
/// Placeholder for an origin that matches the allowed one only as a pattern.
pub(super) const PATTERN: &str = "{origin-pattern}";

/// Writes an origin in another form.
type LookAlike = fn(&str) -> String;

/// The placeholders, and what they stand for.
const LOOK_ALIKES: [(&str, LookAlike); 8] = [
    (UPPER_CASE, str::to_uppercase),
    (PREFIX, |origin| format!("{}.other.example", without_port(origin))),
    (SHORTER, |origin| {
        let mut shorter = without_port(origin).to_owned();
        shorter.pop();
        shorter
    }),
    (SUFFIX, |origin| origin.replacen("://", "://other-", 1)),
    (SUBDOMAIN, |origin| origin.replacen("://", "://sub.", 1)),
    (SCHEME, |origin| match origin.strip_prefix("https://") {
        Some(host) => format!("http://{host}"),
        None => origin.replacen("http://", "https://", 1),
    }),
    (PORT, |origin| {
        let port = if origin.ends_with(":8443") { 9443 } else { 8443 };
        format!("{}:{port}", without_port(origin))
    }),
    (PATTERN, |origin| match origin.rfind('.') {
        Some(at) => format!("{}x{}", &origin[..at], &origin[at + 1..]),
        None => format!("{origin}x"),
    }),
];

/// Fills in the placeholders of origins that look like `origin`.
pub(super) fn fill(text: &str, origin: &str) -> String {
    // Most header fields have no placeholder.
    if !text.contains('{') {
        return text.to_owned();
    }
    LOOK_ALIKES
        .iter()
        .fold(text.to_owned(), |text, (placeholder, alike)| text.replace(placeholder, &alike(origin)))
}

fn without_port(origin: &str) -> &str {
    match origin.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => origin,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://page.example")]
    #[case("https://page.example:4443")]
    #[case("http://localhost:3000")]
    #[case("http://localhost")]
    fn look_alikes_are_other_origins(#[case] origin: &str) {
        for (placeholder, _) in LOOK_ALIKES {
            let alike = fill(placeholder, origin);
            assert!(alike != origin && alike != placeholder, "{placeholder}");
        }
    }
}
