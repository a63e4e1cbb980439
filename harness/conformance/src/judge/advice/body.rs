use edgeproof_fixtures::spec::Advice;

use crate::judge::json_change::json_changes;

/// The byte order mark of UTF-8.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// How to relay a body that arrived changed, and where it differs.
pub(in crate::judge) fn body_advice(sent: &[u8], arrived: &[u8]) -> Vec<Advice> {
    if arrived.is_empty() {
        return vec![Advice::BodyEmptied];
    }
    let at = common_start(sent, arrived);
    let (from, till) = (at.saturating_sub(12), at + 24);
    let around = |bytes: &[u8]| bytes[from.min(bytes.len())..till.min(bytes.len())].into();
    let place = Advice::BodyDiffersAt { at: at as u64, sent: around(sent), arrived: around(arrived) };
    vec![change(sent, arrived), place]
}

/// Number of equal bytes at the start.
pub(in crate::judge) fn common_start(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// What changed the body, as far as its form shows.
fn change(sent: &[u8], arrived: &[u8]) -> Advice {
    if serde_json::from_slice::<String>(arrived).is_ok_and(|text| text.as_bytes() == sent) {
        return Advice::BodyAsString;
    }
    if serde_json::from_slice::<Vec<u8>>(arrived).is_ok_and(|bytes| bytes == sent)
        || arrived.starts_with(br#"{"type":"Buffer","data":"#)
    {
        return Advice::BodyAsNumbers;
    }
    let changes = json_changes(sent, arrived);
    if !changes.is_empty() {
        return Advice::BodyRewritten { changes: changes.iter().map(ToString::to_string).collect() };
    }
    if [&b"{}"[..], b"[]", b"null", b"\"\"", b"undefined", b"None", b"[object Object]"].contains(&arrived) {
        return Advice::BodyParserEmpty;
    }
    if sent.strip_prefix(MARK) == Some(arrived) {
        return Advice::MarkRemoved;
    }
    if sent.trim_ascii() == arrived.trim_ascii() {
        return Advice::BodyTrimmed;
    }
    if String::from_utf8_lossy(sent).as_bytes() == arrived {
        return Advice::InvalidTextReplaced;
    }
    if as_latin1(sent) == arrived {
        return Advice::TextAsLatin;
    }
    let without_returns =
        |bytes: &[u8]| bytes.iter().copied().filter(|byte| *byte != b'\r').collect::<Vec<_>>();
    if without_returns(sent) == without_returns(arrived) {
        return Advice::LineEndsChanged;
    }
    if sent.starts_with(arrived) {
        return Advice::BodyCut { bytes: arrived.len() as u64 };
    }
    if let Some(rest) = arrived.strip_prefix(sent) {
        return Advice::BodyExtended { bytes: rest.len() as u64 };
    }
    if arrived.windows(sent.len().max(1)).any(|window| window == sent) {
        return Advice::BodyWrapped;
    }
    Advice::BodyChanged
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
        Advice::BodyRewritten { changes: vec!["numbers".into()] }
    )]
    #[case::spacing(b"{ }", b"{}", Advice::BodyRewritten { changes: vec!["white-space".into()] })]
    #[case::empty(b"{}", b"", Advice::BodyEmptied)]
    #[case::empty_object(b"a=b", b"{}", Advice::BodyParserEmpty)]
    #[case::mark(b"\xef\xbb\xbf{", b"{", Advice::MarkRemoved)]
    #[case::string(b"{\"a\":1", br#""{\"a\":1""#, Advice::BodyAsString)]
    #[case::buffer(b"ab", br#"{"type":"Buffer","data":[97,98]}"#, Advice::BodyAsNumbers)]
    #[case::trimmed(b"a b \n", b"a b", Advice::BodyTrimmed)]
    #[case::not_utf8(b"a\xffb", "a\u{fffd}b".as_bytes(), Advice::InvalidTextReplaced)]
    #[case::latin1("é".as_bytes(), "Ã©".as_bytes(), Advice::TextAsLatin)]
    #[case::line_ends(b"a\r\nb", b"a\nb", Advice::LineEndsChanged)]
    #[case::cut(b"abcdef", b"abc", Advice::BodyCut { bytes: 3 })]
    #[case::longer(b"abc", b"abcabc", Advice::BodyExtended { bytes: 3 })]
    #[case::wrapped(b"abc", b"<abc>", Advice::BodyWrapped)]
    #[case::other(b"abc", b"xyz", Advice::BodyChanged)]
    fn change_is_named(#[case] sent: &[u8], #[case] arrived: &[u8], #[case] expected: Advice) {
        assert_eq!(body_advice(sent, arrived)[0], expected);
    }

    #[test]
    fn place_of_the_change_follows() {
        let place = Advice::BodyDiffersAt { at: 2, sent: "abc".into(), arrived: "abd".into() };
        assert_eq!(body_advice(b"abc", b"abd"), [Advice::BodyChanged, place]);
    }
}
