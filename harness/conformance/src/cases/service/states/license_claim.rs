use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use edgeproof_fixtures::credentials::READ_PREFIX;
use serde_json::Value;

/// Claims of a read token that name its license.
const LICENSE_CLAIMS: [&str; 6] = ["lid", "license", "license_id", "licenseId", "tenant", "sub"];

/// The id of the license of a read token, where that shows one in a payload that is JSON; otherwise a text.
pub(super) fn license_of(token: &str) -> String {
    let parts = token.trim_start_matches(READ_PREFIX).split('.');
    // A signature can follow the claims.
    let payloads = parts.filter_map(|part| {
        let bytes = URL_SAFE_NO_PAD.decode(part).ok()?;
        serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>().next()?.ok()
    });
    let named =
        |claims: Value| LICENSE_CLAIMS.iter().find_map(|name| claims.get(name)?.as_str().map(str::to_owned));
    let is_plain =
        |id: &String| id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    payloads.filter_map(named).find(is_plain).unwrap_or_else(|| "other".to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::claims(&format!("service_read_e30.{}.c2ln", URL_SAFE_NO_PAD.encode(r#"{"lid":"lic_1"}"#)), "lic_1")]
    #[case::claims_before_the_signature(
        &format!("service_read_v4.public.{}.e30", URL_SAFE_NO_PAD.encode(b"{\"license\":\"lic-2\"}\xff\x00")),
        "lic-2"
    )]
    #[case::no_claims("service_read_opaque", "other")]
    #[case::a_text_that_needs_encoding(&URL_SAFE_NO_PAD.encode(r#"{"lid":"a b"}"#), "other")]
    #[case::no_token("", "other")]
    fn license_of_a_token(#[case] token: &str, #[case] expected: &str) {
        assert_eq!(license_of(token), expected);
    }
}
