//! What a reader needs to know of one case, as lines of text: shared by the terminal, JUnit, Markdown and HTML.

use crate::escape::{one_line, visible};
use crate::{CaseReport, EdgeNotes, Exchange, Level, Mismatch, Titles, sections};

/// What a piece of a line is for; the terminal has a colour for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Plain,
    Strong,
    Dim,
    Good,
    Bad,
    Odd,
    Info,
}

/// One line in pieces, without its line feed. Everything in it is visible.
pub(crate) type Line = Vec<(Ink, String)>;

/// A line of one piece.
pub(crate) fn line(ink: Ink, text: impl Into<String>) -> Line {
    vec![(ink, text.into())]
}

/// Everything: the claim, all mismatches, how to send it again, what went over the wire, the edge.
pub(crate) fn full(case: &CaseReport, titles: &Titles, width: usize) -> Vec<Line> {
    let mut lines = claim(case, titles, width);
    lines.extend(mismatches(case, width));
    lines.extend(reproduce(case));
    case.exchanges.iter().for_each(|exchange| lines.extend(conversation(exchange)));
    lines.extend(case.edge.iter().flat_map(edge));
    lines
}

/// The claim, the mismatches and how to send it again.
pub(crate) fn short(case: &CaseReport, titles: &Titles, width: usize) -> Vec<Line> {
    let mut lines = claim(case, titles, width);
    lines.extend(mismatches(case, width));
    lines.extend(reproduce(case));
    lines
}

/// Lines without their inks.
pub(crate) fn plain(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        text.extend(line.iter().map(|(_, piece)| piece.as_str()));
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    text
}

/// Who says so and how much it weighs: `must · standard RFC 9110 §9.2.2`.
pub(crate) fn authority(case: &CaseReport) -> String {
    let standard = case.standard.as_deref().map(|name| format!(" {}", one_line(name))).unwrap_or_default();
    format!("{} · {}{standard}", case.level.name(), case.basis.name())
}

/// Prose in lines of at most `width` characters; a word that is longer stands alone.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in one_line(text).split(' ') {
        let last = lines.last_mut().expect("there is one from the start");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= width {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

fn claim(case: &CaseReport, titles: &Titles, width: usize) -> Vec<Line> {
    let mut lines: Vec<Line> =
        wrap(&case.title, width).into_iter().map(|text| line(Ink::Plain, text)).collect();
    let section = sections::titled(&case.section, titles);
    let mut facts = format!("section {} · {}", one_line(&section), authority(case));
    if !case.rows.is_empty() {
        facts.push_str(if case.rows.len() == 1 { " · row " } else { " · rows " });
        facts.push_str(&case.rows.join(", "));
    }
    lines.extend(wrap(&facts, width).into_iter().map(|text| line(Ink::Dim, text)));
    // With mismatches it says what the first of them says.
    if !case.because.is_empty() && case.mismatches.is_empty() {
        lines.extend(wrap(&case.because, width).into_iter().map(|text| line(Ink::Strong, text)));
    }
    lines
}

fn mismatches(case: &CaseReport, width: usize) -> Vec<Line> {
    if case.mismatches.is_empty() && !(case.expected.is_empty() && case.actual.is_empty()) {
        let mut lines = vec![Line::new()];
        lines.extend(values(&case.expected, &case.actual, width));
        return lines;
    }
    case.mismatches.iter().flat_map(|mismatch| one_mismatch(mismatch, case.level, width)).collect()
}

fn one_mismatch(mismatch: &Mismatch, level: Level, width: usize) -> Vec<Line> {
    let mut head = line(Ink::Strong, one_line(&mismatch.what));
    if mismatch.level != level {
        head.push((Ink::Dim, format!(" ({})", mismatch.level.name())));
    }
    let mut lines = vec![Line::new(), head];
    lines.extend(values(&mismatch.expected, &mismatch.actual, width));
    for (n, text) in mismatch.hint.iter().flat_map(|hint| wrap(hint, width.saturating_sub(12))).enumerate() {
        let label = if n == 0 { "  hint      " } else { "            " };
        lines.push(vec![(Ink::Dim, label.to_owned()), (Ink::Info, text)]);
    }
    lines
}

fn values(expected: &str, actual: &str, width: usize) -> Vec<Line> {
    let mut lines = value("  expected  ", expected, Ink::Good);
    lines.extend(value("  actual    ", actual, Ink::Bad));
    if let Some(at) = first_difference(&visible(expected), &visible(actual)).filter(|at| at + 30 < width) {
        lines.push(vec![(Ink::Plain, " ".repeat(12 + at)), (Ink::Dim, "^ from here on".to_owned())]);
    }
    lines
}

fn value(label: &str, text: &str, ink: Ink) -> Vec<Line> {
    if text.is_empty() {
        return vec![vec![(Ink::Dim, label.to_owned()), (Ink::Dim, "(nothing)".to_owned())]];
    }
    let continued = format!("{}| ", " ".repeat(label.len() - 2));
    let shown = visible(text);
    let pieces = shown.split('\n').enumerate();
    pieces
        .map(|(n, piece)| {
            let label = if n == 0 { label } else { &continued };
            vec![(Ink::Dim, label.to_owned()), (ink, piece.to_owned())]
        })
        .collect()
}

/// Where two single lines part, in characters, if they have enough in common that the eye has to search for it.
fn first_difference(expected: &str, actual: &str) -> Option<usize> {
    if expected.contains('\n') || actual.contains('\n') {
        return None;
    }
    let same = expected.chars().zip(actual.chars()).take_while(|(a, b)| a == b).count();
    (same >= 8 && expected != actual).then_some(same)
}

fn reproduce(case: &CaseReport) -> Vec<Line> {
    if case.reproduce.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::new(), line(Ink::Strong, "reproduce")];
    lines.extend(visible(&case.reproduce).split('\n').map(|text| line(Ink::Plain, format!("  {text}"))));
    lines
}

fn conversation(exchange: &Exchange) -> Vec<Line> {
    let mut lines = vec![Line::new(), line(Ink::Strong, exchange.hop.name())];
    lines.extend(marked("  > ", &exchange.request));
    lines.extend(marked("  < ", &exchange.response));
    lines
}

fn edge(notes: &EdgeNotes) -> Vec<Line> {
    let mut lines = Vec::new();
    for (title, texts) in
        [("settings of the edge", &notes.settings), ("last log lines of the edge", &notes.log)]
    {
        if !texts.is_empty() {
            lines.extend([Line::new(), line(Ink::Strong, title)]);
            lines.extend(texts.iter().flat_map(|text| marked("  | ", text)));
        }
    }
    lines
}

/// Each line behind a mark, so that none of them can be taken for one of ours.
fn marked(mark: &str, text: &str) -> Vec<Line> {
    let lines = visible(text.strip_suffix('\n').unwrap_or(text)).into_owned();
    lines.split('\n').map(|piece| vec![(Ink::Dim, mark.to_owned()), (Ink::Plain, piece.to_owned())]).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(r#"{"reason":"expired"}"#, r#"{"reason":"unknown"}"#, Some(11))]
    #[case("401", "403", None)]
    #[case("the same all along", "the same all along", None)]
    #[case("first line\nsecond", "first line\nother", None)]
    fn points_at_the_difference(#[case] expected: &str, #[case] actual: &str, #[case] at: Option<usize>) {
        assert_eq!(first_difference(expected, actual), at);
    }

    #[test]
    fn wraps_between_words() {
        assert_eq!(wrap("one two three\nfour", 9), ["one two", "three\\nfour"]);
        assert_eq!(wrap("two  blanks", 20), ["two  blanks"]);
        assert_eq!(wrap("", 9), [""]);
    }
}
