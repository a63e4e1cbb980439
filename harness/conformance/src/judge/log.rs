use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{DifferenceKind, LogValue, SecretPlace, Secrets, UserDatum};
use memchr::memmem;

use super::check::Check;

/// Exactly one line contains both status and reason. The caller passes the complete output.
pub fn one_refusal_line(status: u16, reason: &str, lines: &[String]) -> Check {
    let naming = lines.iter().filter(|line| names_refusal(status, reason, line)).count();
    let with_reason = lines.iter().find(|line| line.contains(reason));
    let actual = match (lines.last(), with_reason) {
        _ if naming > 0 => LogValue::Lines(naming as u64),
        (None, _) => LogValue::Empty,
        (Some(_), Some(line)) => LogValue::WithoutStatus(line.into()),
        (Some(last), None) => LogValue::WithoutReason(lines.len() as u64, last.into()),
    };
    let is_empty = actual == LogValue::Empty;
    let check = Check::judged(DifferenceKind::LogLine { status, reason: reason.into(), actual }, naming == 1);
    if is_empty {
        return check.at(CaseLevel::Should).advise(Advice::LogEmpty);
    }
    check
}

/// The line contains the status as a separate number, and the reason as a separate word.
pub fn names_refusal(status: u16, reason: &str, line: &str) -> bool {
    has_word(line, reason) && has_number(&line.replace(reason, " "), status)
}

/// No line is the second line of a reason with a line break.
pub fn no_forged_line(status: u16, forged: &str, lines: &[String]) -> Check {
    let begins = |line: &&String| line.trim_start().starts_with(forged);
    let count = lines.iter().filter(begins).count();
    let actual = LogValue::Lines(1 + count as u64);
    Check::judged(DifferenceKind::LogLine { status, reason: forged.into(), actual }, count == 0)
}

/// No line contains a license or a private key. `finds` reports whether bytes contain one, in any encoding.
pub fn log_without_secrets(finds: impl Fn(&[u8]) -> bool, lines: &[String]) -> Check {
    let found = lines.iter().any(|line| finds(line.as_bytes()));
    let place = found.then_some(SecretPlace::LogLine);
    Check::judged(DifferenceKind::Secret { secrets: Secrets::EdgeInLog, place }, !found)
        .advise(Advice::SecretLogged)
}

/// No line contains any of these values. The check reports what they are only.
pub fn log_without_values(canaries: &[(UserDatum, String)], lines: &[String]) -> Check {
    let found = canaries.iter().find(|(_, canary)| lines.iter().any(|line| line.contains(canary)));
    let kind = DifferenceKind::LogData {
        expected_absent: canaries.iter().map(|(datum, _)| *datum).collect(),
        found: found.map(|(datum, _)| *datum),
    };
    Check::judged(kind, found.is_none()).advise(Advice::UserDataLogged)
}

/// The line contains the word, not as a part of a longer one.
pub fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    memmem::find_iter(line.as_bytes(), word)
        .filter_map(|at| Some((line.get(..at)?, line.get(at + word.len()..)?)))
        .any(|(before, after)| !before.ends_with(is_part) && !after.starts_with(is_part))
}

/// The line contains the number, not as a part of a longer one.
pub fn has_number(line: &str, number: u16) -> bool {
    let (line, number) = (line.as_bytes(), number.to_string());
    let is_digit = |at: Option<&u8>| at.is_some_and(u8::is_ascii_digit);
    memmem::find_iter(line, &number).any(|at| {
        let before = at.checked_sub(1).and_then(|before| line.get(before));
        !is_digit(before) && !is_digit(line.get(at + number.len()))
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("401", true)]
    #[case("a401b", true)]
    #[case("4012 and 1401", false)]
    #[case("1401, then 401.", true)]
    #[case("", false)]
    fn number_is_no_part_of_a_longer_one(#[case] line: &str, #[case] expected: bool) {
        assert_eq!(has_number(line, 401), expected);
    }

    #[rstest]
    #[case::plain(&["refused status=401 reason=edgeproof_1"], true)]
    #[case::json(&[r#"{"level":"warn","time":"2026-01-01T00:00:00.401Z","status":401,"reason":"edgeproof_1"}"#], true)]
    #[case::among_others(&["listening on 8080", "401 edgeproof_1", "bye"], true)]
    #[case::twice(&["401 edgeproof_1", "401 edgeproof_1"], false)]
    #[case::no_status(&["refused: edgeproof_1"], false)]
    #[case::no_reason(&["refused: 401"], false)]
    #[case::two_lines(&["status 401", "reason edgeproof_1"], false)]
    #[case::longer_reason(&["401 edgeproof_12"], false)]
    #[case::access_log_beside(&["POST /v1/signals 401", "refused 401 edgeproof_1"], true)]
    #[case::nothing(&[], false)]
    fn exactly_one_line_names_the_refusal(#[case] lines: &[&str], #[case] expected: bool) {
        let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
        let check = one_refusal_line(401, "edgeproof_1", &lines);
        assert_eq!(check.ok, expected, "{check:?}");
    }
}
