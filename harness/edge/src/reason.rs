use serde_json::Value;

use super::style::Reason;

/// The longest code that counts as plain, suffix included. The interface's own are below 30 characters.
const LONGEST: usize = 128;

/// The reason code in the service's reply, if it has a plain one: in `reason`, or where that is absent in `error`.
pub(super) fn plain_reason(reply: &[u8], from: Reason) -> Option<String> {
    let reply: Value = serde_json::from_slice(reply).ok()?;
    let code = match from {
        Reason::Either => reply.get("reason").or_else(|| reply.get("error")),
        Reason::OnlyReason => reply.get("reason"),
        Reason::OnlyError => reply.get("error"),
    };
    let code = code?.as_str()?;
    is_plain(code).then(|| code.to_owned())
}

/// Plain is what can be compared, logged and shown without a thought: lower-case letters, digits and underscores, a
/// letter first, perhaps with a suffix after one colon.
pub(super) fn is_plain(code: &str) -> bool {
    let (name, suffix) = code.split_once(':').map_or((code, None), |(name, suffix)| (name, Some(suffix)));
    let in_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let in_suffix = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    code.len() <= LONGEST
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
    fn plainness(#[case] code: &str, #[case] plain: bool) {
        assert_eq!(is_plain(code), plain);
    }

    #[test]
    fn a_long_code_is_not_plain() {
        assert!(is_plain(&"a".repeat(LONGEST)));
        assert!(!is_plain(&"a".repeat(LONGEST + 1)));
    }

    #[rstest]
    #[case::both_members(br#"{"error":"expired","reason":"expired"}"#, Some("expired"))]
    #[case::reason_only(br#"{"reason":"expired"}"#, Some("expired"))]
    #[case::error_only(br#"{"error":"expired"}"#, Some("expired"))]
    #[case::reason_goes_first(br#"{"error":"denied","reason":"expired"}"#, Some("expired"))]
    #[case::more_members(br#" {"reason":"expired","trace":[1]} "#, Some("expired"))]
    #[case::empty(b"", None)]
    #[case::not_json(b"expired", None)]
    #[case::html(b"<html>expired</html>", None)]
    #[case::array(br#"["expired"]"#, None)]
    #[case::number(br#"{"error":"expired","reason":5}"#, None)]
    #[case::null(br#"{"error":"expired","reason":null}"#, None)]
    #[case::object(br#"{"reason":{"code":"expired"}}"#, None)]
    #[case::invalid_utf8(b"{\"reason\":\"expired\xff\"}", None)]
    #[case::cut(br#"{"reason":"exp"#, None)]
    #[case::more_after_it(br#"{"reason":"expired"}x"#, None)]
    fn reasons(#[case] reply: &[u8], #[case] reason: Option<&str>) {
        assert_eq!(plain_reason(reply, Reason::Either).as_deref(), reason);
    }
}
