use serde_json::Value;

/// Maximum length of a plain code, suffix included (bytes). The interface's own codes are shorter than 30.
const MAX_LENGTH: usize = 128;

/// Reason code of a refusal by the service: member `reason`, or `error` if `reason` is absent. `None` unless it is
/// plain.
pub(super) fn plain_reason(reply: &[u8]) -> Option<String> {
    let reply: Value = serde_json::from_slice(reply).ok()?;
    let code = reply.get("reason").or_else(|| reply.get("error"))?.as_str()?;
    is_plain(code).then(|| code.to_owned())
}

/// Whether a code is safe to compare, log and show: lower-case letters, digits and underscores, a letter first,
/// optionally a suffix after one colon.
fn is_plain(code: &str) -> bool {
    let (name, suffix) = code.split_once(':').map_or((code, None), |(name, suffix)| (name, Some(suffix)));
    let in_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let in_suffix = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    code.len() <= MAX_LENGTH
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(in_name)
        && suffix.is_none_or(|suffix| !suffix.is_empty() && suffix.bytes().all(in_suffix))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_code("expired", true)]
    #[case::several_words("client_cert_licence_mismatch", true)]
    #[case::digits("rule_42", true)]
    #[case::suffix("unknown_kid:k-1.a_B", true)]
    #[case::empty("", false)]
    #[case::capitals("Expired", false)]
    #[case::sentence("the license expired", false)]
    #[case::dots("license.expired", false)]
    #[case::dashes("license-expired", false)]
    #[case::digit_first("4xx", false)]
    #[case::empty_suffix("unknown_kid:", false)]
    #[case::two_suffixes("unknown_kid:a:b", false)]
    #[case::line_break("expired\nforged=line", false)]
    #[case::line_break_in_suffix("unknown_kid:a\nb", false)]
    #[case::not_ascii("abgelaufén", false)]
    fn plain_codes_have_safe_characters(#[case] code: &str, #[case] plain: bool) {
        assert_eq!(is_plain(code), plain);
    }

    #[test]
    fn code_over_maximum_length_is_not_plain() {
        assert!(is_plain(&"a".repeat(MAX_LENGTH)));
        assert!(!is_plain(&"a".repeat(MAX_LENGTH + 1)));
    }

    #[rstest]
    #[case::both_members(br#"{"error":"expired","reason":"expired"}"#, Some("expired"))]
    #[case::reason_only(br#"{"reason":"expired"}"#, Some("expired"))]
    #[case::error_only(br#"{"error":"expired"}"#, Some("expired"))]
    #[case::reason_before_error(br#"{"error":"denied","reason":"expired"}"#, Some("expired"))]
    #[case::other_members(br#" {"reason":"expired","trace":[1]} "#, Some("expired"))]
    #[case::empty(b"", None)]
    #[case::not_json(b"expired", None)]
    #[case::html(b"<html>expired</html>", None)]
    #[case::array(br#"["expired"]"#, None)]
    #[case::number(br#"{"error":"expired","reason":5}"#, None)]
    #[case::null(br#"{"error":"expired","reason":null}"#, None)]
    #[case::object(br#"{"reason":{"code":"expired"}}"#, None)]
    #[case::invalid_utf8(b"{\"reason\":\"expired\xff\"}", None)]
    #[case::truncated(br#"{"reason":"exp"#, None)]
    #[case::trailing_text(br#"{"reason":"expired"}x"#, None)]
    fn reads_reason_or_error(#[case] reply: &[u8], #[case] reason: Option<&str>) {
        assert_eq!(plain_reason(reply).as_deref(), reason);
    }
}
