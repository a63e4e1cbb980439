use http::HeaderMap;
use http::header::AUTHORIZATION;

/// Texts of an unset variable in the languages that edges are written in.
const UNSET: [&str; 14] = [
    "undefined",
    "null",
    "none",
    "nil",
    "nan",
    "<nil>",
    "%!s(<nil>)",
    "false",
    "[object object]",
    "optional.empty",
    "none()",
    "${license}",
    "$license",
    "license",
];

/// Advice for a request whose `Authorization` header was built from an unset variable.
pub(crate) fn unset_hint(headers: &HeaderMap) -> Option<String> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    values.find_map(|value| of_value(&String::from_utf8_lossy(value.as_bytes())))
}

/// Advice for credentials that were found in place of the license.
pub(super) fn license_hint(license: &str, found: &[String]) -> Option<String> {
    let Some(other) = found.first() else {
        return Some("send LICENSE in the Authorization header of each request to the service".to_owned());
    };
    if is_unset(other) {
        return Some(advice(other));
    }
    let part = |text: &str| license.starts_with(text) || license.ends_with(text);
    if part(other) {
        return Some("the license is cut: send LICENSE whole, with its prefix and all its dots".to_owned());
    }
    let bare = other.trim_matches(|c: char| "\"'<>{}[]".contains(c) || c.is_whitespace());
    (bare == license).then(|| "remove the quotes or brackets around LICENSE".to_owned())
}

/// The advice for a header value with a scheme, or without.
fn of_value(value: &str) -> Option<String> {
    let value = value.trim();
    let (scheme, credentials) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
    let is_scheme = ["bearer", "basic", "token", "license"].contains(&scheme.to_ascii_lowercase().as_str());
    match credentials.trim() {
        "" if value.is_empty() || is_scheme => Some(format!(
            "the header `Authorization: {value}` holds no license: LICENSE is unset or read too early. Read LICENSE from the \
             environment; while it is unset, send no header"
        )),
        "" if is_unset(value) => Some(advice(value)),
        credentials if is_unset(credentials) => Some(advice(credentials)),
        _ => None,
    }
}

fn advice(text: &str) -> String {
    format!(
        "`{text}` is the text of an unset variable: read LICENSE from the environment, under exactly this name; while it is \
         unset, send no Authorization header"
    )
}

fn is_unset(text: &str) -> bool {
    UNSET.contains(&text.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::javascript(
        "Bearer undefined",
        Some("`undefined` is the text of an unset variable: read LICENSE")
    )]
    #[case::json("Bearer null", Some("`null`"))]
    #[case::python("Bearer None", Some("`None`"))]
    #[case::go("Bearer <nil>", Some("`<nil>`"))]
    #[case::go_format("Bearer %!s(<nil>)", Some("unset variable"))]
    #[case::template("Bearer ${LICENSE}", Some("unset variable"))]
    #[case::empty("Bearer ", Some("`Authorization: Bearer` holds no license"))]
    #[case::only_the_scheme("bearer", Some("holds no license"))]
    #[case::blank("", Some("holds no license"))]
    #[case::no_scheme("undefined", Some("`undefined`"))]
    #[case::license("Bearer service_license_v4.public.x", None)]
    #[case::basic("Basic dXNlcjpwYXNz", None)]
    fn unset_setting_is_recognised(#[case] value: &str, #[case] hint: Option<&str>) {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, value.parse().unwrap());
        let found = unset_hint(&headers);
        assert_eq!(found.is_some(), hint.is_some(), "{found:?}");
        assert!(found.as_deref().unwrap_or_default().contains(hint.unwrap_or_default()), "{found:?}");
    }

    #[test]
    fn request_without_the_header_has_no_hint() {
        assert_eq!(unset_hint(&HeaderMap::new()), None);
    }

    #[rstest]
    #[case::nothing(&[], Some("in the Authorization header"))]
    #[case::unset(&["None"], Some("unset variable"))]
    #[case::without_prefix(&["v4.public.abc.def"], Some("the license is cut"))]
    #[case::without_footer(&["service_license_v4.public.abc"], Some("the license is cut"))]
    #[case::quoted(&["\"service_license_v4.public.abc.def\""], Some("remove the quotes"))]
    #[case::other(&["service_license_v4.public.xyz.def"], None)]
    fn wrong_license_is_explained(#[case] found: &[&str], #[case] hint: Option<&str>) {
        let found: Vec<String> = found.iter().map(|text| (*text).to_owned()).collect();
        let hinted = license_hint("service_license_v4.public.abc.def", &found);
        assert_eq!(hinted.is_some(), hint.is_some(), "{hinted:?}");
        assert!(hinted.as_deref().unwrap_or_default().contains(hint.unwrap_or_default()), "{hinted:?}");
    }
}
