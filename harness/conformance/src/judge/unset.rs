use edgeproof_fixtures::spec::Advice;
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
pub(crate) fn unset_license(headers: &HeaderMap) -> Option<Advice> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    values.find_map(|value| of_value(&String::from_utf8_lossy(value.as_bytes())))
}

/// Advice for credentials that were found in place of the license.
pub(super) fn license_advice(license: &str, found: &[String]) -> Option<Advice> {
    let Some(other) = found.first() else { return Some(Advice::LicenseAbsent) };
    if is_unset(other) {
        return Some(Advice::LicenseUnset { found: other.into() });
    }
    if license.starts_with(other) || license.ends_with(other) {
        return Some(Advice::LicenseCut);
    }
    let bare = other.trim_matches(|c: char| "\"'<>{}[]".contains(c) || c.is_whitespace());
    (bare == license).then_some(Advice::LicenseQuoted)
}

/// The advice for a header value with a scheme, or without.
fn of_value(value: &str) -> Option<Advice> {
    let value = value.trim();
    let (scheme, credentials) = value.split_once(char::is_whitespace).unwrap_or((value, ""));
    let is_scheme = ["bearer", "basic", "token", "license"].contains(&scheme.to_ascii_lowercase().as_str());
    match credentials.trim() {
        "" if value.is_empty() || is_scheme => Some(Advice::LicenseEmpty { found: value.into() }),
        "" if is_unset(value) => Some(Advice::LicenseUnset { found: value.into() }),
        credentials if is_unset(credentials) => Some(Advice::LicenseUnset { found: credentials.into() }),
        _ => None,
    }
}

fn is_unset(text: &str) -> bool {
    UNSET.contains(&text.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn unset(found: &str) -> Advice {
        Advice::LicenseUnset { found: found.into() }
    }

    fn empty(found: &str) -> Advice {
        Advice::LicenseEmpty { found: found.into() }
    }

    #[rstest]
    #[case::javascript("Bearer undefined", Some(unset("undefined")))]
    #[case::json("Bearer null", Some(unset("null")))]
    #[case::python("Bearer None", Some(unset("None")))]
    #[case::go("Bearer <nil>", Some(unset("<nil>")))]
    #[case::go_format("Bearer %!s(<nil>)", Some(unset("%!s(<nil>)")))]
    #[case::template("Bearer ${LICENSE}", Some(unset("${LICENSE}")))]
    #[case::empty("Bearer ", Some(empty("Bearer")))]
    #[case::only_the_scheme("bearer", Some(empty("bearer")))]
    #[case::blank("", Some(empty("")))]
    #[case::no_scheme("undefined", Some(unset("undefined")))]
    #[case::license("Bearer service_license_v4.public.x", None)]
    #[case::basic("Basic dXNlcjpwYXNz", None)]
    fn unset_setting_is_recognised(#[case] value: &str, #[case] advice: Option<Advice>) {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, value.parse().unwrap());
        assert_eq!(unset_license(&headers), advice);
    }

    #[test]
    fn request_without_the_header_has_no_advice() {
        assert_eq!(unset_license(&HeaderMap::new()), None);
    }

    #[rstest]
    #[case::nothing(&[], Some(Advice::LicenseAbsent))]
    #[case::unset(&["None"], Some(unset("None")))]
    #[case::without_prefix(&["v4.public.abc.def"], Some(Advice::LicenseCut))]
    #[case::without_footer(&["service_license_v4.public.abc"], Some(Advice::LicenseCut))]
    #[case::quoted(&["\"service_license_v4.public.abc.def\""], Some(Advice::LicenseQuoted))]
    #[case::other(&["service_license_v4.public.xyz.def"], None)]
    fn wrong_license_is_explained(#[case] found: &[&str], #[case] advice: Option<Advice>) {
        let found: Vec<String> = found.iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(license_advice("service_license_v4.public.abc.def", &found), advice);
    }
}
