//! A cause as lines of text: shared by terminal, Markdown, JUnit and annotations.

use super::case::or_nothing;
use super::escape::one_line;
use super::styled::{StyledLine, TextStyle, line};
use crate::difference::DifferenceKind;
use crate::model::{CaseReport, CauseGroup, FrameworkFix, Mismatch, Summary};
use crate::text::units::counted;

/// Most lines of a cause, with its heading.
const LINES: usize = 8;
/// Longest fix with the fixes of two frameworks, in characters.
const TWO_FRAMEWORKS: usize = 120;
/// Characters before the first difference of values that are cut.
const BEFORE_DIFFERENCE: usize = 16;

/// Number of lines of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CauseDepth {
    /// Fix and command.
    Short,
    /// Also the difference.
    Example,
    /// Also the share of the failures.
    Share,
    /// Also a setting and a log line of the example.
    Full,
}

/// Number, title, number of cases and row. `columns`: width of the title and of the number of cases.
pub(crate) fn heading(number: usize, group: &CauseGroup<'_>, columns: (usize, usize)) -> StyledLine {
    let (title, cases) = (one_line(&group.cause.title), counted(group.cases.len(), "case"));
    let (wide, counts) = columns;
    vec![
        (TextStyle::Dim, format!("{number:>2}  ")),
        (TextStyle::Strong, format!("{title:<wide$}")),
        (TextStyle::Plain, format!("  {cases:>counts$}")),
        (TextStyle::Dim, format!("   {}", one_line(&group.cause.row))),
    ]
}

/// Widths for [`heading`] that align the columns of all groups. A title longer than half of `width` shifts its columns.
pub(crate) fn columns(groups: &[&CauseGroup<'_>], width: usize) -> (usize, usize) {
    let titles = groups.iter().map(|group| one_line(&group.cause.title).chars().count());
    let counts = groups.iter().map(|group| counted(group.cases.len(), "case").len());
    (titles.filter(|title| *title <= width / 2).max().unwrap_or(0), counts.max().unwrap_or(0))
}

/// The lines below the heading. Lines that one copies are neither cut nor wrapped; values are cut at `width`.
pub(crate) fn lines(
    group: &CauseGroup<'_>,
    summary: &Summary,
    depth: CauseDepth,
    width: usize,
) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    if depth >= CauseDepth::Example {
        lines.extend(example(group, width.saturating_sub(LABEL).max(20)));
    }
    let fix = fix(group);
    if !fix.is_empty() {
        lines.push(labelled(if group.is_named() { "fix" } else { "hint" }, TextStyle::Info, fix));
    }
    if depth >= CauseDepth::Share
        && group.is_explained()
        && let Some(share) = group.explains(summary)
    {
        lines.push(labelled("explains", TextStyle::Plain, share));
    }
    if depth >= CauseDepth::Full {
        let room = LINES.saturating_sub(lines.len() + 2);
        lines.extend(notes(group, width.saturating_sub(LABEL).max(20)).into_iter().take(room));
    }
    if let Some(confirmation) = group.confirmation() {
        lines.push(labelled("repeats", TextStyle::Plain, one_line(&confirmation.to_string()).into_owned()));
    }
    if group.cause.rerun.is_empty() {
        let ids = group.cases.iter().map(|case| case.id.as_str());
        lines.push(labelled("cases", TextStyle::Plain, listed(ids, width.saturating_sub(LABEL))));
    } else {
        lines.push(labelled("again", TextStyle::Plain, one_line(&group.cause.rerun).into_owned()));
    }
    lines
}

/// The fix, with the fixes of the first frameworks in parentheses.
pub(crate) fn fix(group: &CauseGroup<'_>) -> String {
    let mut text = one_line(&group.cause.fix).into_owned();
    let mut frameworks = group.cause.frameworks.iter().map(framework);
    let Some(first) = frameworks.next() else { return text };
    put!(text, " ({first}");
    if let Some(second) = frameworks.next()
        && text.chars().count() + second.chars().count() < TWO_FRAMEWORKS
    {
        put!(text, "; {second}");
    }
    text + ")"
}

/// Labels of the values of a mismatch.
pub(crate) fn labels(mismatch: Option<&Mismatch>) -> [&'static str; 2] {
    if is_relayed(mismatch) { ["sent", "arrived"] } else { ["expected", "actual"] }
}

/// Whether the values are the body that edgeproof sent and the one that arrived.
fn is_relayed(mismatch: Option<&Mismatch>) -> bool {
    matches!(mismatch.and_then(Mismatch::kind), Some(DifferenceKind::RelayedBody { .. }))
}

/// As many items as fit into `width`, at least one, then the number of the rest: `401 expired, … and 31 more`.
pub(crate) fn listed<'i>(items: impl Iterator<Item = &'i str>, width: usize) -> String {
    let items: Vec<_> = items.map(one_line).collect();
    let mut text = String::new();
    for (n, item) in items.iter().enumerate() {
        let rest = items.len() - n;
        let more = if rest > 1 { ", … and 999 more".chars().count() } else { 0 };
        if n > 0 && text.chars().count() + 2 + item.chars().count() + more > width {
            put!(text, ", … and {rest} more");
            break;
        }
        text.push_str(if n > 0 { ", " } else { "" });
        text.push_str(item);
    }
    text
}

/// Columns of a label.
const LABEL: usize = 10;

fn labelled(label: &str, style: TextStyle, text: impl Into<String>) -> StyledLine {
    vec![(TextStyle::Dim, format!("{label:<LABEL$}")), (style, text.into())]
}

fn framework(framework: &FrameworkFix) -> String {
    format!("{}: {}", one_line(&framework.name), one_line(&framework.fix))
}

fn example(group: &CauseGroup<'_>, width: usize) -> Vec<StyledLine> {
    let case = group.example();
    let mismatch = group.mismatch();
    let (expected, actual) = match mismatch {
        Some(mismatch) => (&mismatch.expected, &mismatch.actual),
        None => (&case.expected, &case.actual),
    };
    if expected.is_empty() && actual.is_empty() {
        return vec![labelled("because", TextStyle::Bad, cut(&case.because, width))];
    }
    let named = group.is_rerun(case) || group.cause.rerun.is_empty();
    let mut lines = Vec::new();
    if !group.is_named() {
        lines.push(labelled("required", TextStyle::Plain, cut(&case.title, width)));
    }
    // The title of a row without a cause names the property.
    let has_place = mismatch.is_some_and(|mismatch| !mismatch.place.is_empty());
    let is_clear = is_relayed(mismatch) || (!group.is_named() && !has_place);
    if !(is_clear && named) {
        let place = if named { String::new() } else { format!(" in {}", one_line(&case.id)) };
        let width = width.saturating_sub(place.chars().count());
        let compared = mismatch.map_or_else(String::new, |mismatch| compared(case, mismatch, width));
        lines.push(labelled("compared", TextStyle::Plain, compared + &place));
    }
    let labels = labels(mismatch);
    let [expected, actual] = excerpts(expected, actual, width);
    lines.push(labelled(labels[0], TextStyle::Good, expected));
    lines.push(labelled(labels[1], TextStyle::Bad, actual));
    lines
}

/// What the mismatch compares. Mismatches of one property are one list: `32 × body: 401 expired, …`.
fn compared(case: &CaseReport, mismatch: &Mismatch, width: usize) -> String {
    let own = mismatch.place.as_str();
    let others = case.mismatches.iter().filter(|other| other.is_about_same(mismatch));
    let mut places: Vec<&str> = others.map(|other| other.place.as_str()).collect();
    places.retain(|place| !place.is_empty() && *place != own);
    if own.is_empty() || places.is_empty() {
        return one_line(&mismatch.what).into_owned();
    }
    let start = format!("{} × {}: ", places.len() + 1, one_line(&mismatch.property()));
    let room = width.saturating_sub(start.chars().count());
    start + &listed(std::iter::once(own).chain(places), room)
}

/// The first setting that the difference is about, then the last log line, if the cause is about the log: another line may be of
/// another request.
fn notes(group: &CauseGroup<'_>, width: usize) -> Vec<StyledLine> {
    let Some(edge) = &group.example().edge else { return Vec::new() };
    let mismatch = group.mismatch();
    let kind = mismatch.and_then(Mismatch::kind);
    let settings = kind.map(DifferenceKind::settings).unwrap_or_default();
    let is_named =
        |setting: &&String| setting.split_once('=').is_some_and(|(name, _)| settings.contains(&name));
    let setting = edge.settings.iter().find(is_named);
    let about_log = kind.is_some_and(DifferenceKind::is_about_log);
    let log = edge.log.last().filter(|_| about_log);
    let notes = [("setting", setting), ("log", log)];
    notes
        .into_iter()
        .filter_map(|(label, text)| Some(labelled(label, TextStyle::Plain, cut(text?, width))))
        .collect()
}

/// Both values on one line each. Long ones start shortly before their first difference.
fn excerpts(expected: &str, actual: &str, width: usize) -> [String; 2] {
    let (expected, actual) = (one_line(expected), one_line(actual));
    let longest = expected.chars().count().max(actual.chars().count());
    let same = expected.chars().zip(actual.chars()).take_while(|(a, b)| a == b).count();
    if longest <= width || same + BEFORE_DIFFERENCE < width {
        return [&expected, &actual].map(|text| cut(text, width));
    }
    let from = same - BEFORE_DIFFERENCE;
    [&expected, &actual].map(|text| {
        let rest: String = text.chars().skip(from).collect();
        cut(&format!("…{rest}"), width)
    })
}

/// The text on one line of at most `width` characters, with `…` if it was longer.
fn cut(text: &str, width: usize) -> String {
    let text = one_line(or_nothing(text));
    if text.chars().count() <= width {
        return text.into_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Cause of a case in one line each: cause, fix, command. For the reports of a single case.
pub(crate) fn short(group: &CauseGroup<'_>) -> Vec<StyledLine> {
    let id = format!("{} ({})", one_line(&group.cause.title), one_line(&group.cause.id));
    let mut lines = vec![labelled("cause", TextStyle::Strong, id)];
    let fix = fix(group);
    if !fix.is_empty() {
        lines.push(labelled("fix", TextStyle::Info, fix));
    }
    if !group.cause.rerun.is_empty() {
        lines.push(labelled("again", TextStyle::Plain, one_line(&group.cause.rerun).into_owned()));
    }
    lines.push(line(TextStyle::Plain, ""));
    lines
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&["a", "b"], 40, "a, b")]
    #[case(&["401 missing_license", "401 expired", "403 revoked", "403 other"], 40, "401 missing_license, … and 3 more")]
    #[case(&["an item that is longer than the width", "b"], 10, "an item that is longer than the width, … and 1 more")]
    #[case(&[], 10, "")]
    fn list_names_as_many_items_as_fit(#[case] items: &[&str], #[case] width: usize, #[case] text: &str) {
        assert_eq!(listed(items.iter().copied(), width), text);
    }

    #[rstest]
    #[case("short", "value", 20, ["short", "value"])]
    #[case("0123456789012345678901234567890123456789A", "0123456789012345678901234567890123456789B", 20, ["…4567890123456789A", "…4567890123456789B"])]
    #[case("Annnnnnnnnnnnnnnnnnnnnnnn", "B", 20, ["Annnnnnnnnnnnnnnnnn…", "B"])]
    #[case("0123456789012345678901234567890123456789", "0123456789012345678901234567890", 20, ["…567890123456789012…", "…5678901234567890"])]
    #[case("line\nline", "", 20, ["line\\nline", "(nothing)"])]
    fn long_values_are_cut_around_their_first_difference(
        #[case] expected: &str,
        #[case] actual: &str,
        #[case] width: usize,
        #[case] texts: [&str; 2],
    ) {
        assert_eq!(excerpts(expected, actual, width), texts);
    }
}
