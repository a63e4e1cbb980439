use askama::Template;
use serde::{Deserialize, Serialize};

use crate::document;
use crate::model::{Outcome, ReportedSpec, ReportedTarget, Summary, Tool};
use crate::text::page::rendered;
use crate::text::units::counted;

/// Value of the field `schema` in every matrix of runs.
pub(super) const SCHEMA: &str = "edgeproof.report-matrix/1";

/// What stands for a value that a run does not have.
pub(super) const NOTHING: &str = "–";

/// Several runs side by side. Scripts depend on these fields: add fields, never remove one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Template)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[template(path = "run_matrix.html")]
pub struct RunMatrix {
    /// Always `edgeproof.report-matrix/1`.
    #[cfg_attr(test, schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// The runs, in the order of the columns.
    pub runs: Vec<MatrixRun>,
    /// The rows of the interface that a run has a case of, by section.
    pub sections: Vec<MatrixSection>,
    /// Open points at which the runs differ.
    pub observations: Vec<MatrixPoint>,
}

/// A run: a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MatrixRun {
    /// Name of the column; no other run has it.
    pub name: String,
    /// Name of its report.
    pub report: String,
    /// Program that made the report.
    pub tool: Tool,
    /// Interface under test.
    pub spec: ReportedSpec,
    /// Target of the run.
    pub target: ReportedTarget,
    /// Start of the run, RFC 3339 in UTC.
    pub started: String,
    /// Exit code of the run.
    pub exit_code: u8,
    /// Number of cases of each outcome.
    pub summary: Summary,
}

/// A section of the interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MatrixSection {
    /// Number of the section.
    pub number: String,
    /// Number and title.
    pub heading: String,
    /// Its rows, in the order of the cases.
    pub rows: Vec<MatrixRow>,
}

/// A row of the interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MatrixRow {
    /// Id of the row.
    pub id: String,
    /// Its result in each run, in the order of the runs; null if the run has no case of it.
    pub runs: Vec<Option<RowOutcome>>,
}

/// Result of a row in a run: that of its cases together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RowOutcome {
    /// The heaviest outcome of its cases.
    pub outcome: Outcome,
    /// Number of its cases of each outcome.
    pub cases: Summary,
}

/// An open point at which the runs differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MatrixPoint {
    /// The open point.
    pub point: String,
    /// What was observed in each run, in the order of the runs; empty if the run did not observe the point.
    pub runs: Vec<Vec<String>>,
}

impl RowOutcome {
    /// `pass`, or `fail 2 of 5` if only some of the cases that apply failed.
    pub(super) fn text(&self) -> String {
        let count = self.cases.get(self.outcome);
        let applying = self.cases.planned - self.cases.not_applicable;
        let label = self.outcome.label();
        if self.is_settled() || count == applying {
            return label.to_owned();
        }
        format!("{label} {count} of {applying}")
    }

    /// Whether no case failed, warned or could not run.
    fn is_settled(&self) -> bool {
        matches!(self.outcome, Outcome::Pass | Outcome::Observed | Outcome::NotApplicable)
    }
}

impl MatrixRow {
    /// Result in each run as text.
    pub(super) fn cells(&self) -> impl Iterator<Item = String> {
        self.runs.iter().map(|run| run.map_or_else(|| NOTHING.to_owned(), |run| run.text()))
    }

    /// Name of the run, class and text of each result.
    fn marked<'a>(&'a self, runs: &'a [MatrixRun]) -> impl Iterator<Item = (&'a str, &'static str, String)> {
        let classes = self.runs.iter().map(|run| run.map_or("nothing", |run| run.outcome.name()));
        let named = runs.iter().map(|run| run.name.as_str());
        named.zip(classes).zip(self.cells()).map(|((name, class), text)| (name, class, text))
    }

    /// Whether no case failed, warned or could not run in any run.
    fn is_settled(&self) -> bool {
        self.runs.iter().flatten().all(RowOutcome::is_settled)
    }
}

/// Rows of a section that stand together.
pub(super) struct RowGroup<'a> {
    /// What the folded rows are. None: the rows are shown.
    pub(super) folded: Option<String>,
    pub(super) rows: Vec<&'a MatrixRow>,
}

impl MatrixSection {
    /// The rows with a case that failed, warned or could not run; then the others, folded.
    pub(super) fn groups(&self) -> Vec<RowGroup<'_>> {
        let (settled, notable): (Vec<_>, Vec<_>) = self.rows.iter().partition(|row| row.is_settled());
        let noun = if notable.is_empty() { "row" } else { "other row" };
        let folded = format!("{}: nothing failed", counted(settled.len(), noun));
        let groups =
            [RowGroup { folded: None, rows: notable }, RowGroup { folded: Some(folded), rows: settled }];
        groups.into_iter().filter(|group| !group.rows.is_empty()).collect()
    }
}

impl MatrixPoint {
    /// Observations of each run as text.
    pub(super) fn cells(&self) -> impl Iterator<Item = String> {
        self.runs.iter().map(|observed| match observed.as_slice() {
            [] => NOTHING.to_owned(),
            observed => {
                let named = |text: &String| if text.is_empty() { "empty".to_owned() } else { text.clone() };
                observed.iter().map(named).collect::<Vec<_>>().join(" or ")
            }
        })
    }

    /// Name and observations of each run.
    fn named<'a>(&'a self, runs: &'a [MatrixRun]) -> impl Iterator<Item = (&'a str, String)> {
        runs.iter().map(|run| run.name.as_str()).zip(self.cells())
    }
}

impl RunMatrix {
    /// One page without network or script.
    pub fn to_html(&self) -> String {
        rendered(self)
    }

    /// Indented JSON with a final line feed.
    pub fn to_json(&self) -> String {
        document::to_json(self)
    }

    /// What the matrix shows in one line: `2 runs · 171 rows · 3 with a failure, … · 5 open points differ`.
    pub(super) fn line(&self) -> String {
        let rows: usize = self.sections.iter().map(|section| section.rows.len()).sum();
        let notable = self.sections.iter().flat_map(|section| &section.rows).filter(|row| !row.is_settled());
        let points = self.observations.len();
        format!(
            "{} · {} · {} with a case that failed, warned or could not run · {} {}",
            counted(self.runs.len(), "run"),
            counted(rows, "row"),
            notable.count(),
            counted(points, "open point"),
            if points == 1 { "differs" } else { "differ" },
        )
    }

    /// That the runs have other tables of one version. None: all have the same.
    pub(super) fn other_tables(&self) -> Option<String> {
        let first = &self.runs.first()?.spec;
        let differs = self.runs.iter().any(|run| run.spec.digest != first.digest);
        differs.then(|| format!("the runs have different tables of {}: see their digests", first.version))
    }
}
