use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use edgeproof_fixtures::credentials::{LICENSE_PREFIX, READ_PREFIX};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use percent_encoding::percent_decode_str;

/// Licenses in a request, in the order of discovery.
///
/// The interface does not show how an edge sends its license (5). So this searches all header values and the request
/// target, also percent-decoded and Base64-decoded (`Basic`). Without any token of this interface, it returns the
/// credentials of the `Authorization` header.
pub fn presented_licenses(target: &str, headers: &HeaderMap) -> Vec<String> {
    let mut found = Vec::new();
    for (name, value) in headers {
        let text = String::from_utf8_lossy(value.as_bytes());
        match enclosed(&text).filter(|_| name == AUTHORIZATION) {
            Some(credentials) => found.push(credentials.to_owned()),
            None => search(&text, &mut found),
        }
    }
    search(target, &mut found);
    if found.is_empty() {
        let authorization = headers.get_all(AUTHORIZATION).iter();
        found.extend(
            authorization.filter_map(|value| credentials(&String::from_utf8_lossy(value.as_bytes()))),
        );
    }
    found
}

/// Whether a request contains this license unchanged, also if it is no token of this interface: in a header value or in
/// the request target, raw, percent-encoded or in Base64.
pub fn presents_license(license: &str, target: &str, headers: &HeaderMap) -> bool {
    let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || "-._~+/=".contains(c));
    let mut found = false;
    let mut search = |text: &str| {
        found |= text.match_indices(license).any(|(at, _)| is_end(&text[at + license.len()..]));
    };
    for (name, value) in headers {
        let text = String::from_utf8_lossy(value.as_bytes());
        if name == AUTHORIZATION && enclosed(&text).is_some_and(|credentials| credentials != license) {
            continue;
        }
        // Credentials are not percent-encoded (RFC 9110 §11.2).
        if name == AUTHORIZATION { each_decoded(&text, &mut search) } else { each_text(&text, &mut search) }
    }
    each_text(target, &mut search);
    found
}

/// True if a header value contains a token of this interface, in any searched encoding.
pub(crate) fn holds_token(value: &[u8]) -> bool {
    let mut found = Vec::new();
    search(&String::from_utf8_lossy(value), &mut found);
    !found.is_empty()
}

/// Substrings of the tokens of this interface, unlikely in other text.
const MARKS: [&str; 3] = [LICENSE_PREFIX, READ_PREFIX, "v4.public."];

/// Shorter Base64 words contain no token.
const SHORTEST: usize = 16;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

fn search(text: &str, found: &mut Vec<String>) {
    each_text(text, |text| tokens(text, found));
}

/// Calls `look` with a text, and with all that it contains percent-encoded or in Base64.
fn each_text(text: &str, mut look: impl FnMut(&str)) {
    let percent_decoded =
        text.contains('%').then(|| percent_decode_str(text).decode_utf8_lossy().into_owned());
    for text in percent_decoded.iter().map(String::as_str).chain([text]) {
        each_decoded(text, &mut look);
    }
}

/// Calls `look` with a text, and with all that it contains in Base64.
fn each_decoded(text: &str, mut look: impl FnMut(&str)) {
    look(text);
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_'))) {
        // In a path, a Base64 word may begin after a slash.
        for word in [Some(word), word.rsplit_once('/').map(|(_, last)| last)].into_iter().flatten() {
            if word.len() < SHORTEST {
                continue;
            }
            let decoded = STANDARD.decode(word).or_else(|_| URL_SAFE.decode(word));
            if let Some(decoded) = decoded.ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
                look(&decoded);
            }
        }
    }
}

fn tokens(text: &str, found: &mut Vec<String>) {
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))) {
        if MARKS.iter().any(|mark| word.contains(mark)) && !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
}

/// Credentials that are one word in quotes or brackets. They are neither a token nor parameters (RFC 9110 §11.4), so a
/// service that takes the value after the scheme finds another text than the word.
fn enclosed(value: &str) -> Option<&str> {
    let credentials = value.trim();
    let credentials =
        credentials.split_once(char::is_whitespace).map_or(credentials, |(_, rest)| rest.trim());
    let word = credentials.trim_matches(|c: char| "\"'`<>{}[]()".contains(c));
    let is_word =
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-._~+/=".contains(c));
    (is_word && word.len() < credentials.len()).then_some(credentials)
}

/// The value after the scheme, or the whole value without a scheme.
fn credentials(value: &str) -> Option<String> {
    let value = value.trim();
    let presented = match value.split_once(char::is_whitespace) {
        Some((_, credentials)) => credentials.trim(),
        None if ["bearer", "basic"].contains(&value.to_ascii_lowercase().as_str()) => "",
        None => value,
    };
    (!presented.is_empty()).then(|| presented.to_owned())
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose;
    use http::HeaderValue;
    use rstest::rstest;

    use super::*;

    const LICENSE: &str = "service_license_v4.public.eyJsaWQiOiJsaWMtMSJ9-_x.eyJraWQiOiJrIn0";

    fn check(target: &str, fields: &[(&'static str, &str)], expected: &[&str]) {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        assert_eq!(presented_licenses(target, &headers), expected);
    }

    #[rstest]
    #[case::quotes("Bearer \"{}\"", "\"{}\"")]
    #[case::single_quotes("Bearer '{}'", "'{}'")]
    #[case::brackets("Bearer <{}>", "<{}>")]
    #[case::one_side("Bearer \"{}", "\"{}")]
    #[case::without_scheme("[{}]", "[{}]")]
    fn enclosed_credentials_are_no_license(#[case] value: &str, #[case] expected: &str) {
        let (value, expected) = (value.replace("{}", LICENSE), expected.replace("{}", LICENSE));
        check("/", &[("authorization", &value)], &[&expected]);
        let headers = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_str(&value).unwrap())]);
        assert!(!presents_license(LICENSE, "/", &headers));
        // A license that has the quotes itself arrives unchanged.
        assert!(presents_license(&expected, "/", &headers));
    }

    #[rstest]
    #[case::bearer(&format!("Bearer {LICENSE}"))]
    #[case::bare(LICENSE)]
    #[case::parameter(&format!("License token=\"{LICENSE}\", v=1"))]
    #[case::basic_user(&format!("Basic {}", general_purpose::STANDARD.encode(format!("{LICENSE}:"))))]
    #[case::basic_password(&format!("Basic {}", general_purpose::STANDARD.encode(format!("edge:{LICENSE}"))))]
    #[case::base64_url(&general_purpose::URL_SAFE_NO_PAD.encode(LICENSE))]
    #[case::json(&format!("{{\"license\":\"{LICENSE}\"}}"))]
    fn license_is_found_in_any_header(
        #[case] value: &str,
        #[values("authorization", "x-anything")] name: &'static str,
    ) {
        check("/", &[(name, value)], &[LICENSE]);
    }

    #[rstest]
    #[case::query(&format!("/v1/relay?license={LICENSE}&x=1"))]
    #[case::segment(&format!("/relay/{LICENSE}"))]
    #[case::percent_encoded(&format!("/relay?l={}", LICENSE.replace('_', "%5f").replace('.', "%2E")))]
    #[case::base64_in_path(&format!("/relay/{}", general_purpose::URL_SAFE_NO_PAD.encode(LICENSE)))]
    #[case::base64_with_padding(&format!("/?l={}", general_purpose::STANDARD.encode(LICENSE).replace('=', "%3D")))]
    fn license_is_found_in_the_request_target(#[case] target: &str) {
        check(target, &[("host", "localhost")], &[LICENSE]);
    }

    #[rstest]
    #[case::nothing(&[], &[])]
    #[case::empty_bearer(&[("authorization", "Bearer")], &[])]
    #[case::foreign_vendor(&[("authorization", "Bearer vendor_abc")], &["vendor_abc"])]
    #[case::foreign_paseto(&[("x-license", "vendor_license_v4.public.aa.bb")], &["vendor_license_v4.public.aa.bb"])]
    #[case::damaged(&[("x-license", "service_license_%%%")], &["service_license_"])]
    #[case::read_token(&[("x-license", "service_read_v4.public.aa.bb")], &["service_read_v4.public.aa.bb"])]
    #[case::license_beside_foreign_token(&[("authorization", "Bearer abc"), ("x-license", "service_license_x")], &["service_license_x"])]
    #[case::other_field(&[("x-anything", "secret")], &[])]
    fn other_credentials_are_presented_as_they_are(
        #[case] fields: &[(&'static str, &str)],
        #[case] expected: &[&str],
    ) {
        check("/v1/relay", fields, expected);
    }

    #[rstest]
    #[case::bearer("Bearer AZ.az~+/==", true)]
    #[case::bare("AZ.az~+/==", true)]
    #[case::parameter("License token=\"AZ.az~+/==\"", true)]
    #[case::basic(&format!("Basic {}", general_purpose::STANDARD.encode("edge:AZ.az~+/==")), true)]
    #[case::cut("Bearer AZ.az~+/=", false)]
    #[case::extended("Bearer AZ.az~+/===", false)]
    #[case::other_case("Bearer az.az~+/==", false)]
    fn any_license_is_found_unchanged(#[case] value: &str, #[case] expected: bool) {
        let headers = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_str(value).unwrap())]);
        assert_eq!(presents_license("AZ.az~+/==", "/v1/relay", &headers), expected);
        let target = format!("/?l={}", value.replace(' ', "%20").replace('+', "%2B"));
        assert_eq!(presents_license("AZ.az~+/==", &target, &HeaderMap::new()), expected);
    }
}
