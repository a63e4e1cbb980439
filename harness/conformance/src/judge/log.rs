use edgeproof_reports::{CaseLevel, counted};

use super::check::{Check, excerpt};

/// Exactly one line contains both status and reason. The caller passes the complete output.
pub fn one_refusal_line(status: u16, reason: &str, lines: &[String]) -> Check {
    let naming = lines.iter().filter(|line| names_refusal(status, reason, line)).count();
    let expected = format!("one line with {status} and {reason}");
    let check = |actual: String, ok| Check::new("log", expected.clone(), actual, ok);
    if naming == 1 {
        return check("one line".into(), true);
    }
    if naming > 1 {
        return check(format!("{naming} lines"), false);
    }
    if lines.is_empty() {
        return check("no log line".into(), false)
            .at(CaseLevel::Should)
            .hint("log the refusal to stdout or stderr; edgeproof reads no other log");
    }
    match lines.iter().find(|line| line.contains(reason)) {
        Some(line) => check(format!("a line without the status: {}", excerpt(line.as_bytes())), false),
        None => check(
            format!(
                "no line with the reason; the last of {}: {}",
                counted(lines.len(), "line"),
                excerpt(lines[lines.len() - 1].as_bytes())
            ),
            false,
        ),
    }
}

/// The line contains the status as a separate number, and the reason as a separate word.
pub fn names_refusal(status: u16, reason: &str, line: &str) -> bool {
    has_word(line, reason) && has_number(&line.replace(reason, " "), status)
}

/// No line contains a license or a private key. `finds` reports whether bytes contain one, in any encoding.
pub fn log_without_secrets(finds: impl Fn(&[u8]) -> bool, lines: &[String]) -> Check {
    let found = lines.iter().any(|line| finds(line.as_bytes()));
    let actual = if found { "one in a line" } else { "none" };
    Check::new("log", "no license and no private key", actual, !found)
        .hint("remove credentials from log lines; errors of an HTTP client often contain its request headers")
}

/// No line contains any of these values. The check reports their names only.
pub fn log_without_values(canaries: &[(&str, String)], lines: &[String]) -> Check {
    let names: Vec<_> = canaries.iter().map(|(name, _)| *name).collect();
    let found = canaries.iter().find(|(_, canary)| lines.iter().any(|line| line.contains(canary)));
    let actual = found.map_or("none".into(), |(name, _)| format!("the {name} in a line"));
    Check::new("log", format!("no {}", names.join(", no ")), actual, found.is_none())
        .hint("log the status and the reason, without data from the end user's request")
}

/// The line contains the word, not as a part of a longer one.
pub fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part))
}

fn has_number(line: &str, number: u16) -> bool {
    line.split(|c: char| !c.is_ascii_digit()).any(|digits| digits == number.to_string())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

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
