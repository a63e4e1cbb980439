//! The matrix of rows × outcomes, by section.

use std::collections::HashMap;

use askama::Template;

use super::anchor;
use crate::model::{CaseReport, Outcome, Report, Titles};
use crate::run_matrix::{NamedRun, RunMatrix};
use crate::text::escape::one_line;
use crate::text::units::counted;

/// The matrix.
#[derive(Debug, Template)]
#[template(path = "report/rows.html")]
pub(super) struct RowTable {
    sections: Vec<SectionRows>,
}

/// A section with its rows.
#[derive(Debug)]
struct SectionRows {
    heading: String,
    count: String,
    /// Number of rows by their heaviest outcome.
    cells: Vec<Cell>,
    rows: Vec<RowLine>,
}

/// A row.
#[derive(Debug)]
struct RowLine {
    id: String,
    anchor: String,
    heaviest: Outcome,
    /// Number of its cases.
    cells: Vec<Cell>,
}

/// A number in the column of an outcome.
#[derive(Debug)]
struct Cell {
    outcome: Outcome,
    count: usize,
    /// Anchor of the first case.
    anchor: String,
}

impl RowTable {
    /// The rows of a run.
    pub(super) fn new(report: &Report, titles: &Titles) -> Self {
        let columns: Vec<Outcome> = report.summary.shown().map(|(outcome, _)| outcome).collect();
        let first = first_cases(&report.cases);
        let matrix = RunMatrix::new(&[NamedRun { name: "", file: "", report }], titles);
        let sections = matrix.map(|matrix| matrix.sections).unwrap_or_default().into_iter().map(|section| {
            let rows = section.rows.iter().filter_map(|row| {
                let result = row.runs.first().copied().flatten()?;
                let cells = columns.iter().map(|outcome| {
                    let first = first.get(&(row.id.as_str(), *outcome));
                    let anchor = first.map(|id| anchor::of_case(id)).unwrap_or_default();
                    Cell { outcome: *outcome, count: result.cases.get(*outcome), anchor }
                });
                Some(RowLine {
                    id: one_line(&row.id).into_owned(),
                    anchor: anchor::of_row(&row.id),
                    heaviest: result.outcome,
                    cells: cells.collect(),
                })
            });
            let rows: Vec<RowLine> = rows.collect();
            let cell = |outcome: &Outcome| Cell {
                outcome: *outcome,
                count: rows.iter().filter(|row| row.heaviest == *outcome).count(),
                anchor: String::new(),
            };
            SectionRows {
                heading: one_line(&section.heading).into_owned(),
                count: counted(rows.len(), "row"),
                cells: columns.iter().map(cell).collect(),
                rows,
            }
        });
        Self { sections: sections.collect() }
    }
}

/// Id of the first case of each row and outcome.
fn first_cases(cases: &[CaseReport]) -> HashMap<(&str, Outcome), &str> {
    let mut first = HashMap::new();
    for case in cases {
        for row in &case.rows {
            first.entry((row.as_str(), case.outcome)).or_insert(case.id.as_str());
        }
    }
    first
}
