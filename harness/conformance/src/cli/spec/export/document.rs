use edgeproof_fixtures::spec::{Row, Spec};
use edgeproof_reports::Outcome;
use edgeproof_reports::interface::{MutantCounts, RowState};

use super::super::authority::authority;
use super::super::evidence::{Evidence, RowResult};
use super::super::matrices::Matrices;
use super::super::row_cases::RowCases;
use super::super::sections::sections;
use crate::row_facts::row_facts;

/// The interface for people: all rows by section, with what reports show about them.
pub(super) struct Document<'a> {
    /// Name of the interface and its version.
    pub(super) title: String,
    pub(super) digest: &'a str,
    /// The number of reports. Without one, rows have no result.
    pub(super) reports: usize,
    /// The number of rows of each state that rows have.
    pub(super) counts: Vec<(RowState, usize)>,
    pub(super) sections: Vec<DocumentSection<'a>>,
}

pub(super) struct DocumentSection<'a> {
    pub(super) number: &'a str,
    pub(super) heading: String,
    pub(super) rows: Vec<DocumentRow<'a>>,
}

pub(super) struct DocumentRow<'a> {
    pub(super) id: &'a str,
    pub(super) level: &'static str,
    pub(super) authority: String,
    pub(super) condition: &'a str,
    /// Status, code, body and the like.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) excluded: Option<&'a str>,
    /// Each case with its outcomes.
    pub(super) cases: Vec<(String, Vec<Outcome>)>,
    /// The mutants that break the row. None without a matrix.
    pub(super) mutants: Option<MutantCounts>,
    /// None without reports.
    pub(super) result: Option<RowResult>,
}

impl<'a> Document<'a> {
    pub(super) fn new(spec: &'a Spec, evidence: &Evidence, matrices: &Matrices) -> Self {
        let cases = RowCases::of(spec);
        let document = |row: &'a Row| DocumentRow {
            id: &row.id,
            level: row.level.name(),
            authority: authority(row),
            condition: &row.condition,
            facts: row_facts(row),
            excluded: row.excluded.as_deref(),
            cases: cases
                .get(&row.id)
                .iter()
                .map(|case| (case.clone(), evidence.outcomes(row, case).collect()))
                .collect(),
            mutants: matrices.given().then(|| matrices.counts(&row.id)),
            result: (!evidence.reports().is_empty()).then(|| evidence.result(row)),
        };
        let sections: Vec<_> = sections(spec)
            .into_iter()
            .map(|section| DocumentSection {
                number: section.number,
                heading: section.heading(),
                rows: section.rows.into_iter().map(document).collect(),
            })
            .collect();
        let count = |state| {
            let rows = sections.iter().flat_map(|section| &section.rows);
            rows.filter(|row| row.result.as_ref().is_some_and(|result| result.state == state)).count()
        };
        let counts = RowState::ALL.iter().map(|state| (*state, count(*state)));
        Self {
            title: format!("{}, version {}", spec.name(), spec.version()),
            digest: spec.digest(),
            reports: evidence.reports().len(),
            counts: counts.filter(|(_, count)| *count > 0).collect(),
            sections,
        }
    }
}

impl DocumentRow<'_> {
    /// How many mutants the cases of the row detect, as text. None without a matrix, and for rows without mutants.
    pub(super) fn mutants(&self) -> Option<String> {
        let MutantCounts { planted, killed, noticed } = self.mutants.filter(|mutants| mutants.planted > 0)?;
        let seen = if noticed > 0 { format!(", {noticed} noticed") } else { String::new() };
        Some(format!("{killed} of {planted} killed{seen}"))
    }

    /// The cases as text: ids, and their outcomes if there are reports.
    pub(super) fn cases(&self) -> impl Iterator<Item = (&str, String)> {
        self.cases.iter().map(|(id, outcomes)| {
            let outcomes: Vec<_> = outcomes.iter().map(|outcome| outcome.label()).collect();
            (id.as_str(), outcomes.join(", "))
        })
    }
}
