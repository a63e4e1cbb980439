//! A card for each cause.

use askama::Template;

use super::anchor;
use super::values::Values;
use crate::model::{CaseReport, CauseGroup, FrameworkFix, Outcome, Report};
use crate::text::cause::labels;
use crate::text::escape::one_line;
use crate::text::units::counted;

/// Most links of a cause that are shown without a click.
const LINKS: usize = 12;

/// A cause, or a row with failures that no cause explains.
#[derive(Debug, Template)]
#[template(path = "report/cause.html")]
pub(super) struct CauseCard {
    /// Number of the cause in the page, from 1.
    pub(super) number: usize,
    pub(super) anchor: String,
    pub(super) title: String,
    class: &'static str,
    count: String,
    row: CaseLink,
    explanation: Prose,
    /// Share of the failures; empty without a known cause.
    explains: String,
    /// What the best example compares.
    compared: String,
    example: CaseLink,
    values: Option<Values>,
    fix: Prose,
    frameworks: Vec<(String, Prose)>,
    again: String,
    shown: Vec<CaseLink>,
    folded: Vec<CaseLink>,
    passed: Vec<CaseLink>,
    passed_count: String,
}

/// Link to a case or a row.
#[derive(Debug)]
pub(super) struct CaseLink {
    pub(super) anchor: String,
    pub(super) id: String,
}

impl CaseLink {
    /// Link to a case.
    pub(super) fn to_case(id: &str) -> Self {
        Self { anchor: anchor::of_case(id), id: one_line(id).into_owned() }
    }

    /// Link to a row.
    pub(super) fn to_row(id: &str) -> Self {
        Self { anchor: anchor::of_row(id), id: one_line(id).into_owned() }
    }
}

/// Pieces of a text, and whether each is code: it stands in backticks.
#[derive(Debug, Default, PartialEq, Eq, Template)]
#[template(
    source = "{% for (is_code, text) in self.0 %}{% if is_code %}<code>{{ text }}</code>{% else %}{{ text }}{% endif %}{% endfor %}",
    ext = "html"
)]
pub(super) struct Prose(Vec<(bool, String)>);

impl Prose {
    /// The pieces of a text.
    pub(super) fn new(text: &str) -> Self {
        let text = one_line(text);
        let pieces: Vec<&str> = text.split('`').collect();
        // The last backtick of an odd number stands for itself.
        let paired = pieces.len() - 1 - (pieces.len() - 1) % 2;
        let (head, rest) = pieces.split_at(paired + 1);
        let mut prose: Vec<_> =
            head.iter().enumerate().map(|(at, text)| (at % 2 == 1, (*text).to_owned())).collect();
        prose.extend(rest.iter().map(|text| (false, format!("`{text}"))));
        prose.retain(|(_, text)| !text.is_empty());
        Self(prose)
    }

    /// Whether there is no text.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl CauseCard {
    /// The card of a group.
    pub(super) fn new(number: usize, group: &CauseGroup<'_>, report: &Report) -> Self {
        let (cause, case) = (&group.cause, group.example());
        let (compared, expected, actual) = match group.mismatch() {
            Some(found) => (&found.what, &found.expected, &found.actual),
            None => (&case.because, &case.expected, &case.actual),
        };
        let links = |cases: &[&CaseReport]| cases.iter().map(|case| CaseLink::to_case(&case.id)).collect();
        let (shown, folded) = group.cases.split_at(group.cases.len().min(LINKS));
        let framework = |one: &FrameworkFix| (one_line(&one.name).into_owned(), Prose::new(&one.fix));
        Self {
            number,
            anchor: anchor_of(group),
            title: one_line(&cause.title).into_owned(),
            class: group.outcome.name(),
            count: counted(group.cases.len(), "case"),
            row: CaseLink::to_row(&cause.row),
            explanation: Prose::new(&cause.explanation),
            explains: group.explains(&report.summary).filter(|_| group.is_explained()).unwrap_or_default(),
            compared: one_line(compared).into_owned(),
            example: CaseLink::to_case(&case.id),
            values: Values::new(labels(group.mismatch()), expected, actual),
            fix: Prose::new(&cause.fix),
            frameworks: cause.frameworks.iter().map(framework).collect(),
            again: cause.rerun.clone(),
            shown: links(shown),
            folded: links(folded),
            passed: cause.passed.iter().map(|id| CaseLink::to_case(id)).collect(),
            passed_count: counted(cause.passed.len(), "case"),
        }
    }
}

/// A row without a known cause can have failures and warnings: two groups.
fn anchor_of(group: &CauseGroup<'_>) -> String {
    let anchor = anchor::of_cause(&group.cause.id);
    if !group.is_named() && group.outcome == Outcome::Warn { anchor + ":warn" } else { anchor }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paired_backticks_become_code() {
        assert_eq!(
            Prose::new("send `a < b` or `c`.").to_string(),
            "send <code>a &#60; b</code> or <code>c</code>."
        );
        assert_eq!(Prose::new("`a` and ` alone").to_string(), "<code>a</code> and ` alone");
        assert!(Prose::new("").is_empty());
    }
}
