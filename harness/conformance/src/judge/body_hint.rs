use edgeproof_reports::counted;
use edgeproof_reports::difference::excerpt;

use super::json_change::json_changes;

/// The byte order mark of UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// How to relay a body that arrived changed, and where it differs.
pub(super) fn body_hint(sent: &[u8], arrived: &[u8]) -> String {
    if arrived.is_empty() {
        return "relay the body; an empty one arrived. A parser that read the stream before leaves nothing to relay".into();
    }
    let at = common_start(sent, arrived);
    let (from, till) = (at.saturating_sub(12), at + 24);
    let around = |bytes: &[u8]| excerpt(&bytes[from.min(bytes.len())..till.min(bytes.len())]);
    let what = change(sent, arrived).map_or(String::new(), |change| format!(" ({change})"));
    format!(
        "relay the bytes without parsing them; a changed body arrived{what}: at byte {at} sent {:?}, arrived {:?}",
        around(sent),
        around(arrived)
    )
}

/// Number of equal bytes at the start.
pub(super) fn common_start(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// What changed the body, as far as its form shows.
fn change(sent: &[u8], arrived: &[u8]) -> Option<String> {
    let changes = json_changes(sent, arrived);
    if !changes.is_empty() {
        let names: Vec<String> = changes.iter().map(ToString::to_string).collect();
        return Some(format!("JSON was parsed and written again: other {}", names.join(", ")));
    }
    let named = |text: &str| Some(text.to_owned());
    if [&b"{}"[..], b"[]", b"null", b"\"\"", b"undefined", b"None", b"[object Object]"].contains(&arrived) {
        return named("a parser read no JSON and left its empty value");
    }
    if sent.strip_prefix(MARK) == Some(arrived) {
        return named("the byte order mark was removed");
    }
    if serde_json::from_slice::<String>(arrived).is_ok_and(|text| text.as_bytes() == sent) {
        return named("the body was serialised as a JSON string");
    }
    if serde_json::from_slice::<Vec<u8>>(arrived).is_ok_and(|bytes| bytes == sent)
        || arrived.starts_with(br#"{"type":"Buffer","data":"#)
    {
        return named("the bytes were serialised as JSON numbers");
    }
    if sent.trim_ascii() == arrived.trim_ascii() {
        return named("white space at its ends changed");
    }
    if String::from_utf8_lossy(sent).as_bytes() == arrived {
        return named("bytes that are not UTF-8 were replaced: a string held the body");
    }
    if as_latin1(sent) == arrived {
        return named("UTF-8 was read as Latin-1: a string held the body");
    }
    let without_returns =
        |bytes: &[u8]| bytes.iter().copied().filter(|byte| *byte != b'\r').collect::<Vec<_>>();
    if without_returns(sent) == without_returns(arrived) {
        return named("line ends changed");
    }
    if sent.starts_with(arrived) {
        return Some(format!("cut after {}", counted(arrived.len(), "byte")));
    }
    if let Some(rest) = arrived.strip_prefix(sent) {
        return Some(format!("followed by {}", counted(rest.len(), "other byte")));
    }
    arrived
        .windows(sent.len().max(1))
        .any(|window| window == sent)
        .then(|| "wrapped in another text".to_owned())
}

fn as_latin1(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::number(
        br#"{"n":9007199254740993}"#,
        br#"{"n":9007199254740992}"#,
        "other form or value of numbers): at byte 20 "
    )]
    #[case::spacing(b"{ }", b"{}", "parsed and written again: other white space)")]
    #[case::empty(b"{}", b"", "an empty one arrived")]
    #[case::empty_object(b"a=b", b"{}", "left its empty value")]
    #[case::mark(b"\xef\xbb\xbf{", b"{", "byte order mark was removed")]
    #[case::string(b"{\"a\":1", br#""{\"a\":1""#, "serialised as a JSON string")]
    #[case::buffer(b"ab", br#"{"type":"Buffer","data":[97,98]}"#, "as JSON numbers")]
    #[case::trimmed(b"a b \n", b"a b", "white space at its ends")]
    #[case::not_utf8(b"a\xffb", "a\u{fffd}b".as_bytes(), "not UTF-8 were replaced")]
    #[case::latin1("é".as_bytes(), "Ã©".as_bytes(), "read as Latin-1")]
    #[case::line_ends(b"a\r\nb", b"a\nb", "line ends changed")]
    #[case::cut(b"abcdef", b"abc", "cut after 3 bytes")]
    #[case::longer(b"abc", b"abcabc", "followed by 3 other bytes")]
    #[case::wrapped(b"abc", b"<abc>", "wrapped in another text")]
    #[case::other(b"abc", b"xyz", "a changed body arrived: at byte 0 ")]
    fn change_is_named(#[case] sent: &[u8], #[case] arrived: &[u8], #[case] expected: &str) {
        let hint = body_hint(sent, arrived);
        assert!(hint.contains(expected), "{hint}");
    }
}
