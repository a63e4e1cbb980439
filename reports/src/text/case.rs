//! One case as lines of text: shared by terminal, JUnit, Markdown and HTML.

use super::escape::{one_line, visible};
use super::styled::{StyledLine, TextStyle, line, wrap};
use crate::model::{CaseLevel, CaseReport, EdgeNotes, Exchange, Hop, Mismatch, Titles, titled};

/// All of it: claim, mismatches, command to reproduce, exchanges, edge.
pub(crate) fn full(case: &CaseReport, titles: &Titles, width: usize) -> Vec<StyledLine> {
    let mut lines = short(case, titles, width);
    lines.extend(case.exchanges.iter().flat_map(exchange));
    lines.extend(case.edge.iter().flat_map(edge));
    lines
}

/// Claim, mismatches and command to reproduce.
pub(crate) fn short(case: &CaseReport, titles: &Titles, width: usize) -> Vec<StyledLine> {
    let mut lines = claim(case, titles, width);
    lines.extend(mismatches(case, width));
    lines.extend(reproduce(case));
    lines
}

/// Section, level, basis and rows: `section 7.3 reasons from the service · must · interface · row relay.401.expired`.
pub(crate) fn facts(case: &CaseReport, titles: &Titles) -> String {
    let mut facts = format!("section {} · {}", titled(&case.section, titles), authority(case));
    if !case.rows.is_empty() {
        let label = if case.rows.len() == 1 { "row" } else { "rows" };
        put!(facts, " · {label} {}", case.rows.join(", "));
    }
    one_line(&facts).into_owned()
}

/// Level and basis: `must · standard RFC 9110 §9.2.2`.
pub(crate) fn authority(case: &CaseReport) -> String {
    let standard = case.standard.as_deref().map(|name| format!(" {}", one_line(name))).unwrap_or_default();
    format!("{} · {}{standard}", case.worst_level().name(), case.basis.name())
}

/// The lists of an edge that are not empty, each with its heading.
pub(crate) fn edge_lists(edge: &EdgeNotes) -> impl Iterator<Item = (&'static str, &[String])> {
    let lists = [("edge settings", edge.settings.as_slice()), ("last edge log lines", &edge.log)];
    lists.into_iter().filter(|(_, lines)| !lines.is_empty())
}

/// A value, or `(nothing)` for an empty one.
pub(crate) fn or_nothing(value: &str) -> &str {
    if value.is_empty() { "(nothing)" } else { value }
}

/// What the commands to reproduce a case need besides the edge. None: nothing.
pub(crate) fn condition(case: &CaseReport) -> Option<&'static str> {
    // Other commands start what they need.
    let is_curl = case.reproduce.starts_with("curl ");
    let asks_service = case.exchanges.iter().any(|exchange| exchange.hop == Hop::EdgeService);
    (is_curl && asks_service).then_some("with the same reply of the service")
}

fn claim(case: &CaseReport, titles: &Titles, width: usize) -> Vec<StyledLine> {
    let wrapped = |text: &str, style| wrap(text, width).into_iter().map(move |text| line(style, text));
    let mut lines: Vec<StyledLine> = wrapped(&case.title, TextStyle::Plain).collect();
    lines.extend(wrapped(&facts(case, titles), TextStyle::Dim));
    // With mismatches, `because` repeats the first of them.
    if !case.because.is_empty() && case.mismatches.is_empty() {
        lines.extend(wrapped(&case.because, TextStyle::Strong));
    }
    lines
}

fn mismatches(case: &CaseReport, width: usize) -> Vec<StyledLine> {
    if case.mismatches.is_empty() && !(case.expected.is_empty() && case.actual.is_empty()) {
        let mut lines = vec![StyledLine::new()];
        lines.extend(values(&case.expected, &case.actual, width));
        return lines;
    }
    alike(&case.mismatches).into_iter().flat_map(|alike| block(&alike, case.worst_level(), width)).collect()
}

/// Mismatches in their order; those that differ only in the answer that they belong to together.
pub(crate) fn alike(mismatches: &[Mismatch]) -> Vec<Vec<&Mismatch>> {
    let mut groups: Vec<Vec<&Mismatch>> = Vec::new();
    for mismatch in mismatches {
        match groups.iter_mut().find(|group| group[0].is_alike(mismatch)) {
            Some(group) => group.push(mismatch),
            None => groups.push(vec![mismatch]),
        }
    }
    groups
}

/// Lines of mismatches that are alike: what they compare, the values and the hint.
fn block(alike: &[&Mismatch], level: CaseLevel, width: usize) -> Vec<StyledLine> {
    let mismatch = alike[0];
    let places = alike.iter().map(|mismatch| mismatch.place.as_str());
    let many = alike.len() > 1;
    let head =
        if many { format!("{} × {}", alike.len(), mismatch.property()) } else { mismatch.what.clone() };
    let mut head = line(TextStyle::Strong, one_line(&head));
    if mismatch.level != level {
        head.push((TextStyle::Dim, format!(" ({})", mismatch.level.name())));
    }
    let mut lines = vec![StyledLine::new(), head];
    if many {
        let places = wrap(&places.collect::<Vec<_>>().join(", "), width.saturating_sub(2)).into_iter();
        lines.extend(places.map(|text| line(TextStyle::Dim, format!("  {text}"))));
    }
    lines.extend(values(&mismatch.expected, &mismatch.actual, width));
    // Not wrapped: a hint contains code.
    if let Some(hint) = &mismatch.hint {
        let hint = one_line(hint).into_owned();
        lines.push(vec![(TextStyle::Dim, "  hint      ".to_owned()), (TextStyle::Info, hint)]);
    }
    lines
}

fn values(expected: &str, actual: &str, width: usize) -> Vec<StyledLine> {
    let mut lines = value("  expected  ", expected, TextStyle::Good);
    lines.extend(value("  actual    ", actual, TextStyle::Bad));
    if let Some(at) = first_difference(&visible(expected), &visible(actual)).filter(|at| at + 30 < width) {
        lines.push(vec![
            (TextStyle::Plain, " ".repeat(12 + at)),
            (TextStyle::Dim, "^ first difference".to_owned()),
        ]);
    }
    lines
}

fn value(label: &str, text: &str, style: TextStyle) -> Vec<StyledLine> {
    if text.is_empty() {
        return vec![vec![(TextStyle::Dim, label.to_owned()), (TextStyle::Dim, or_nothing(text).to_owned())]];
    }
    let continued = format!("{}| ", " ".repeat(label.len() - 2));
    let escaped = visible(text);
    let pieces = escaped.split('\n').enumerate();
    pieces
        .map(|(n, piece)| {
            let label = if n == 0 { label } else { &continued };
            vec![(TextStyle::Dim, label.to_owned()), (style, piece.to_owned())]
        })
        .collect()
}

/// Position of the first difference of two single lines, in characters. None if they start with fewer than 8
/// equal characters: such a difference is obvious.
fn first_difference(expected: &str, actual: &str) -> Option<usize> {
    if expected.contains('\n') || actual.contains('\n') {
        return None;
    }
    let same = expected.chars().zip(actual.chars()).take_while(|(a, b)| a == b).count();
    (same >= 8 && expected != actual).then_some(same)
}

fn reproduce(case: &CaseReport) -> Vec<StyledLine> {
    if case.reproduce.is_empty() {
        return Vec::new();
    }
    let mut head = line(TextStyle::Strong, "reproduce");
    head.extend(condition(case).map(|condition| (TextStyle::Dim, format!(" ({condition})"))));
    let mut lines = vec![StyledLine::new(), head];
    lines
        .extend(visible(&case.reproduce).split('\n').map(|text| line(TextStyle::Plain, format!("  {text}"))));
    lines
}

fn exchange(exchange: &Exchange) -> Vec<StyledLine> {
    let mut lines = vec![StyledLine::new(), line(TextStyle::Strong, exchange.hop.name())];
    lines.extend(marked("  > ", &exchange.request));
    lines.extend(marked("  < ", &exchange.response));
    lines
}

fn edge(notes: &EdgeNotes) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    for (heading, texts) in edge_lists(notes) {
        lines.extend([StyledLine::new(), line(TextStyle::Strong, heading)]);
        lines.extend(texts.iter().flat_map(|text| marked("  | ", text)));
    }
    lines
}

/// Puts a mark before each line, so that text from outside cannot imitate a line of the report.
fn marked(mark: &str, text: &str) -> Vec<StyledLine> {
    let lines = visible(text.strip_suffix('\n').unwrap_or(text)).into_owned();
    lines
        .split('\n')
        .map(|piece| vec![(TextStyle::Dim, mark.to_owned()), (TextStyle::Plain, piece.to_owned())])
        .collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::difference::{DifferenceKind, HeaderRule, Rendered, Statuses};

    #[test]
    fn mismatches_of_many_answers_that_are_alike_share_their_values() {
        let mismatch = |kind: DifferenceKind, place: &str| {
            let Rendered { what, expected, actual } = kind.rendered();
            Mismatch {
                what: if place.is_empty() { what } else { format!("{what} of {place}") },
                place: place.to_owned(),
                difference: Some(kind.into()),
                expected,
                actual,
                hint: None,
                advice: Vec::new(),
                level: CaseLevel::Must,
            }
        };
        let status =
            |actual| DifferenceKind::Status { expected: Statuses::OneOf(vec![401]), actual: Some(actual) };
        let header =
            DifferenceKind::Header { name: "allow".to_owned(), rule: HeaderRule::ListsPost, actual: None };
        let older = Mismatch { difference: None, ..mismatch(status(404), "401 older") };
        let mismatches = [
            mismatch(status(404), "401 expired"),
            mismatch(header, ""),
            mismatch(status(404), "403 revoked"),
            mismatch(status(500), "502"),
            older.clone(),
            older,
        ];
        let shown: Vec<_> =
            alike(&mismatches).iter().flat_map(|alike| block(alike, CaseLevel::Must, 80)).collect();
        assert_eq!(
            crate::text::styled::paint_all(&shown, false),
            "\n2 × status\n  401 expired, 403 revoked\n  expected  401\n  actual    404\n\
             \nheader allow\n  expected  a list with POST\n  actual    no such header\n\
             \nstatus of 502\n  expected  401\n  actual    500\n\
             \nstatus of 401 older\n  expected  401\n  actual    404\n\
             \nstatus of 401 older\n  expected  401\n  actual    404\n"
        );
    }

    #[rstest]
    #[case(r#"{"reason":"expired"}"#, r#"{"reason":"unknown"}"#, Some(11))]
    #[case("401", "403", None)]
    #[case("the same all along", "the same all along", None)]
    #[case("first line\nsecond", "first line\nother", None)]
    fn first_difference_of_long_single_lines_is_found(
        #[case] expected: &str,
        #[case] actual: &str,
        #[case] at: Option<usize>,
    ) {
        assert_eq!(first_difference(expected, actual), at);
    }
}
