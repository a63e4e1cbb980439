//! Compares an output with the one that a document shows.

use std::sync::LazyLock;

use regex::Regex;

use crate::cli::VARIES;

/// What differs between runs (`VARIES`), and besides: times, and versions of edgeproof.
static REPLACED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let more = [
        (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME"),
        (r"edgeproof \d+\.\d+\.\d+", "edgeproof VERSION"),
        (r"(?:/[\w.-]+)*/\.tmp\w+", "FOLDER"),
    ];
    let all = VARIES.iter().copied().chain(more);
    all.map(|(pattern, shown)| (Regex::new(pattern).expect("it is a pattern"), shown)).collect()
});

/// Why this is not the output that is shown. `…` stands for the rest of a line, and alone for any lines.
pub(super) fn difference(shown: &str, actual: &str) -> Option<String> {
    let (shown, actual) = (without_varying(shown), without_varying(actual));
    let (shown, lines): (Vec<_>, Vec<_>) = (shown.lines().collect(), actual.trim_end().lines().collect());
    (!matches(&shown, &lines)).then(|| format!("shown:\n{}\nactual:\n{actual}", shown.join("\n")))
}

fn without_varying(text: &str) -> String {
    REPLACED
        .iter()
        .fold(text.to_owned(), |text, (pattern, shown)| pattern.replace_all(&text, *shown).into_owned())
}

fn matches(shown: &[&str], lines: &[&str]) -> bool {
    let Some((first, rest)) = shown.split_first() else { return lines.is_empty() };
    if first.trim() == "…" {
        return (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..]));
    }
    let Some((line, others)) = lines.split_first() else { return false };
    let is_same = match first.strip_suffix('…') {
        Some(start) => line.starts_with(start),
        None => line.trim_end() == first.trim_end(),
    };
    is_same && matches(rest, others)
}

#[test]
fn another_output_is_a_difference() {
    let actual = "wrote a.toml\n\nseed 17\nconforms (exit 0)\n";
    for same in [
        "wrote a.toml\n\nseed 4\nconforms (exit 0)",
        "wrote …\n…\nconforms (exit 0)",
        "…",
        "…\nconforms (exit 0)",
    ] {
        assert_eq!(difference(same, actual), None, "{same}");
    }
    for other in
        ["", "wrote a.toml", "wrote b…\n…", "…\nconforms (exit 1)", "…\nseed 4", "conforms (exit 0)\n…"]
    {
        assert!(difference(other, actual).is_some(), "{other}");
    }
}
