use super::{Check, shown};
use edgeproof_reports::CaseLevel as Level;

/// Exactly one line names both status and reason. `complete`: the output was read to its end, or a later line is
/// there already, so that nothing can still come.
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
        return check("the edge logs nothing".into(), false)
            .at(Level::Should)
            .hint("write one line to stdout or stderr; if it goes elsewhere, edgeproof cannot see it");
    }
    match lines.iter().find(|line| line.contains(reason)) {
        Some(line) => check(format!("the status is missing: {}", shown(line.as_bytes())), false),
        None => check(
            format!(
                "no line with the reason, the last of {}: {}",
                lines.len(),
                shown(lines[lines.len() - 1].as_bytes())
            ),
            false,
        ),
    }
}

/// A line names a refusal: its status as a number of its own and its reason.
pub fn names_refusal(status: u16, reason: &str, line: &str) -> bool {
    line.contains(reason) && has_number(&line.replace(reason, " "), status)
}

/// No line holds a license or a private key. `finds` knows them, in whatever way they are written.
pub fn shows_no_secrets(finds: impl Fn(&[u8]) -> bool, lines: &[String]) -> Check {
    let found = lines.iter().any(|line| finds(line.as_bytes()));
    let actual = if found { "one in a line" } else { "none" };
    Check::new("log", "no license and no private key", actual, !found)
        .hint("logs are read by more people than may use a credential; an error of an HTTP client often holds its headers")
}

/// No line holds any of these. Each comes with a name, and only the name is reported.
pub fn shows_nothing(canaries: &[(&str, &str)], lines: &[String]) -> Check {
    let names: Vec<_> = canaries.iter().map(|(name, _)| *name).collect();
    let found = canaries.iter().find(|(_, canary)| lines.iter().any(|line| line.contains(canary)));
    let actual = found.map_or("none".into(), |(name, _)| format!("the {name} in a line"));
    Check::new("log", format!("no {}", names.join(", no ")), actual, found.is_none()).hint(
        "log the status and the reason, nothing that comes from the end user's request, and no credential",
    )
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
    #[case::access_log_beside(&["POST /v1/signals 401", "refused 401 edgeproof_1"], true)]
    #[case::nothing(&[], false)]
    fn counts_lines(#[case] lines: &[&str], #[case] expected: bool) {
        let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
        let check = one_refusal_line(401, "edgeproof_1", &lines);
        assert_eq!(check.ok, expected, "{check:?}");
    }
}
