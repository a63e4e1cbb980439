//! A closed entry for each case. It opens in place.

use askama::Template;

use super::anchor;
use super::causes::{CaseLink, CauseCard, Prose};
use super::sequence::{Message, sequence};
use super::values::Values;
use crate::model::{CaseReport, CauseGroup, Mismatch, Observation};
use crate::text::case::{alike, authority, condition, edge_lists};
use crate::text::cause::labels;
use crate::text::escape::one_line;
use crate::text::units;

/// A case.
#[derive(Debug, Template)]
#[template(path = "report/case.html")]
pub(super) struct CaseEntry<'a> {
    case: &'a CaseReport,
    anchor: String,
    /// The reason for its outcome, or the tested behaviour.
    line: String,
    requirement: String,
    /// Level, basis, version and duration.
    facts: String,
    rows: Vec<CaseLink>,
    /// Number, anchor and title of each cause.
    causes: Vec<(usize, String, String)>,
    /// Reason for the outcome, if no difference says it.
    because: String,
    differences: Vec<DifferenceBlock>,
    observations: &'a [Observation],
    /// Command that plays it again.
    again: Option<String>,
    /// What the commands to reproduce it need.
    condition: Option<&'static str>,
    messages: Vec<Message>,
    lists: Vec<(&'static str, String)>,
}

/// Mismatches that differ only in the answer that they belong to.
#[derive(Debug)]
struct DifferenceBlock {
    heading: String,
    /// The answers, if there are several.
    places: String,
    /// Level, if it is not the one of the case.
    level: &'static str,
    values: Option<Values>,
    hint: Prose,
}

impl<'a> CaseEntry<'a> {
    /// The entry of a case. `causes`: the groups that it belongs to, with their cards.
    pub(super) fn new(case: &'a CaseReport, causes: &[(&CauseGroup<'_>, &CauseCard)]) -> Self {
        let line = |text: &str| one_line(text).into_owned();
        let mut facts = authority(case);
        if let Some(version) = case.since {
            put!(facts, " · since {version}");
        }
        put!(facts, " · {}", units::micros(case.duration_us));
        if let Some(confirmation) = &case.confirmed {
            put!(facts, " · {confirmation}");
        }
        let mut differences: Vec<_> =
            alike(&case.mismatches).iter().map(|alike| DifferenceBlock::new(case, alike)).collect();
        let because = if differences.is_empty() { line(&case.because) } else { String::new() };
        if differences.is_empty() {
            differences.extend(DifferenceBlock::without_mismatch(case));
        }
        Self {
            case,
            anchor: anchor::of_case(&case.id),
            line: line(if case.because.is_empty() { &case.title } else { &case.because }),
            requirement: line(&case.title),
            facts,
            rows: case.rows.iter().map(|row| CaseLink::to_row(row)).collect(),
            causes: causes
                .iter()
                .map(|(_, card)| (card.number, card.anchor.clone(), card.title.clone()))
                .collect(),
            because,
            differences,
            observations: &case.observations,
            again: causes.iter().find_map(|(group, _)| group.again(case)),
            condition: condition(case),
            messages: sequence(&case.exchanges),
            lists: case
                .edge
                .iter()
                .flat_map(edge_lists)
                .map(|(heading, lines)| (heading, lines.join("\n")))
                .collect(),
        }
    }

    fn id(&self) -> String {
        one_line(&self.case.id).into_owned()
    }

    /// Numbers of its causes, for the filter.
    fn cause_numbers(&self) -> String {
        let numbers: Vec<_> = self.causes.iter().map(|(number, ..)| number.to_string()).collect();
        numbers.join(" ")
    }

    /// Ids of its rows, for the filter.
    fn row_ids(&self) -> String {
        let ids: Vec<_> = self.rows.iter().map(|row| row.id.as_str()).collect();
        ids.join(" ")
    }
}

impl DifferenceBlock {
    fn new(case: &CaseReport, alike: &[&Mismatch]) -> Self {
        let mismatch = alike[0];
        let many = alike.len() > 1;
        let places: Vec<_> = alike.iter().map(|one| one_line(&one.place)).collect();
        let heading =
            if many { format!("{} × {}", alike.len(), mismatch.property()) } else { mismatch.what.clone() };
        Self {
            heading: one_line(&heading).into_owned(),
            places: if many { places.join(", ") } else { String::new() },
            level: if mismatch.level == case.worst_level() { "" } else { mismatch.level.name() },
            values: Values::new(labels(Some(mismatch)), &mismatch.expected, &mismatch.actual),
            hint: Prose::new(mismatch.hint.as_deref().unwrap_or_default()),
        }
    }

    fn without_mismatch(case: &CaseReport) -> Option<Self> {
        let values = Values::new(labels(None), &case.expected, &case.actual)?;
        Some(Self {
            heading: String::new(),
            places: String::new(),
            level: "",
            values: Some(values),
            hint: Prose::default(),
        })
    }
}
