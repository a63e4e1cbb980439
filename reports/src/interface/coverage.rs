use std::ops::AddAssign;

use askama::Template;
use strum::{IntoStaticStr, VariantArray};

use crate::model::ReportedSpec;
use crate::text::page::rendered;
use crate::text::units::counted;

/// Name of the column with varied exchanges.
const VARIED: &str = "varied exchanges";

/// What reports prove of an interface, as every form shows it.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "coverage.html")]
pub struct Coverage {
    /// Name of the interface.
    pub name: String,
    /// Its version and digest.
    pub spec: ReportedSpec,
    /// The reports.
    pub reports: Vec<CoveredReport>,
    /// The kill matrices, each in one line. Without one, no mutants are counted.
    pub matrices: Vec<String>,
    /// The sections with rows.
    pub sections: Vec<CoveredSection>,
    /// Counts of all sections: a case of several sections counts once.
    pub total: EvidenceCounts,
}

/// A report of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveredReport {
    /// The tested part, such as `edge`.
    pub part: String,
    /// Kind and address of the target.
    pub target: String,
    /// Start of the run, RFC 3339 in UTC.
    pub started: String,
    /// Version of edgeproof.
    pub tool: String,
    /// Number of planned cases and of each outcome.
    pub summary: String,
    /// Its digest of the tables, if another edgeproof made it with other tables of this version.
    pub other_tables: Option<String>,
}

/// A section of the interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveredSection {
    /// Number and title.
    pub heading: String,
    /// Its rows.
    pub rows: Vec<CoveredRow>,
    /// Counts of its rows: a case of several rows counts once.
    pub counts: EvidenceCounts,
}

/// A row, and what reports show about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoveredRow {
    /// Id of the row.
    pub id: String,
    /// Its section.
    pub section: String,
    /// Weight of the row.
    pub level: &'static str,
    /// Its basis, and the standard that it names.
    pub authority: String,
    /// When the row applies.
    pub condition: String,
    /// What reports show about it.
    pub state: RowState,
    /// The failed cases, or what kept cases from running. Empty for a proven row.
    pub why: Vec<String>,
    /// Its cases, exchanges and mutants.
    pub counts: EvidenceCounts,
    /// Mutants that no case of the row detects.
    pub survived: Vec<String>,
}

/// What runs have shown about a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum RowState {
    /// A case passed, and none failed or warned.
    Proven,
    /// A case failed, also a known one.
    Failed,
    /// A case warned, and none failed.
    Warned,
    /// An open row, which no run judges.
    Observed,
    /// The row has no case, and says why.
    Excluded,
    /// No case of the row ran.
    Untested,
}

/// Number of cases, exchanges and mutants behind rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EvidenceCounts {
    /// Cases that ran.
    pub cases: usize,
    /// Exchanges in other forms that the interface treats alike.
    pub varied: u64,
    /// Mutants.
    pub mutants: MutantCounts,
}

/// Number of mutants of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MutantCounts {
    /// Mutants that behave wrongly.
    pub planted: usize,
    /// Of these, mutants that a case of the row fails.
    pub killed: usize,
    /// Of these, mutants that a case of the row observes at an open point.
    pub noticed: usize,
}

/// A number of a table, under its name.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) count: u64,
}

impl Column {
    fn new(name: &'static str, count: usize) -> Self {
        Self { name, count: count as u64 }
    }

    /// Width of its column in text.
    pub(super) fn width(&self) -> usize {
        self.name.len().max(4)
    }

    /// Class of its cell.
    fn class(&self) -> &'static str {
        if self.count == 0 { "number zero" } else { "number" }
    }
}

impl EvidenceCounts {
    fn columns(&self, has_mutants: bool) -> Vec<Column> {
        let mut columns = vec![Column::new("cases", self.cases), Column { name: VARIED, count: self.varied }];
        if has_mutants {
            let MutantCounts { planted, killed, noticed } = self.mutants;
            columns.push(Column::new("mutants", planted));
            columns.push(Column::new("killed", killed));
            columns.push(Column::new("noticed", noticed));
        }
        columns
    }
}

impl RowState {
    /// All states, in the order of their columns.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Name in every form.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl AddAssign for MutantCounts {
    fn add_assign(&mut self, other: Self) {
        self.planted += other.planted;
        self.killed += other.killed;
        self.noticed += other.noticed;
    }
}

impl CoveredSection {
    /// The number of rows in a state.
    pub fn rows_in(&self, state: RowState) -> usize {
        self.rows.iter().filter(|row| row.state == state).count()
    }

    fn proven(&self) -> impl Iterator<Item = &CoveredRow> {
        self.rows.iter().filter(|row| row.state.is_settled())
    }
}

impl RowState {
    /// Whether nothing is left to say about the row.
    fn is_settled(self) -> bool {
        matches!(self, Self::Proven | Self::Observed)
    }
}

impl Coverage {
    /// All rows, by section.
    pub fn rows(&self) -> impl Iterator<Item = &CoveredRow> {
        self.sections.iter().flat_map(|section| &section.rows)
    }

    /// The number of rows in a state.
    pub fn rows_in(&self, state: RowState) -> usize {
        self.sections.iter().map(|section| section.rows_in(state)).sum()
    }

    /// Whether mutants are counted.
    pub fn has_mutants(&self) -> bool {
        !self.matrices.is_empty()
    }

    /// One page without network or script.
    pub fn to_html(&self) -> String {
        rendered(self)
    }

    /// The reports with other tables of this version, each in one line.
    pub(super) fn other_tables(&self) -> Vec<String> {
        let own = self.spec.short_digest();
        let of = |report: &CoveredReport| {
            let digest = report.other_tables.as_deref()?;
            let CoveredReport { part, tool, .. } = report;
            Some(format!(
                "the report of {part} by edgeproof {tool} is about other tables of {}: digest {digest}, not {own}",
                self.spec.version
            ))
        };
        self.reports.iter().filter_map(of).collect()
    }

    fn row_count(&self) -> String {
        counted(self.rows().count(), "row")
    }

    /// The columns of a section, or of all.
    pub(super) fn columns(&self, section: Option<&CoveredSection>) -> Vec<Column> {
        let rows = section.map_or_else(|| self.rows().count(), |section| section.rows.len());
        let of = |state| section.map_or_else(|| self.rows_in(state), |section| section.rows_in(state));
        let states = RowState::ALL.iter().map(|state| Column::new(state.name(), of(*state)));
        let counts = section.map_or(self.total, |section| section.counts);
        let evidence = counts.columns(self.has_mutants());
        std::iter::once(Column::new("rows", rows)).chain(states).chain(evidence).collect()
    }

    fn count_headings(&self) -> Vec<Column> {
        self.total.columns(self.has_mutants())
    }

    /// The columns of a row.
    fn row_columns(&self, row: &CoveredRow) -> Vec<Column> {
        row.counts.columns(self.has_mutants())
    }

    /// The states of rows that are not proven, with their rows.
    fn unproven(&self) -> Vec<(RowState, Vec<&CoveredRow>)> {
        let states = RowState::ALL.iter().copied().filter(|state| !state.is_settled());
        let of = |state| self.rows().filter(|row| row.state == state).collect::<Vec<_>>();
        states.map(|state| (state, of(state))).filter(|(_, rows)| !rows.is_empty()).collect()
    }
}
