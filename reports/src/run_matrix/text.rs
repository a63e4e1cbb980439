//! Runs side by side, for a terminal.

use std::borrow::Cow;

use super::model::{MatrixPoint, MatrixRun, NOTHING, RowGroup, RunMatrix};
use crate::text::escape::one_line;
use crate::text::styled::{StyledLine, TextStyle, line, paint_all};

impl RunMatrix {
    /// Lines for a terminal: the runs, the rows that do not pass in each run, the open points that differ, and the counts.
    pub fn to_text(&self) -> String {
        let mut lines = Vec::new();
        self.runs.iter().for_each(|run| lines.extend(head(run)));
        lines.extend(self.other_tables().map(|text| line(TextStyle::Plain, one_line(&text))));
        lines.push(StyledLine::new());
        lines.extend(self.sections());
        if !self.observations.is_empty() {
            lines.extend([StyledLine::new(), line(TextStyle::Strong, "open points that differ")]);
        }
        for point in &self.observations {
            lines.push(line(TextStyle::Plain, format!("  {}", one_line(&point.point))));
            lines.extend(self.values(point));
        }
        lines.extend([StyledLine::new(), line(TextStyle::Strong, self.line())]);
        paint_all(&lines, false)
    }

    /// The sections, each with its rows that do not pass in each run.
    fn sections(&self) -> Vec<StyledLine> {
        let mut table =
            vec![(one_line("row"), self.runs.iter().map(|run| one_line(&run.name).into()).collect())];
        for section in &self.sections {
            table.push((one_line(&section.heading), Vec::new()));
            for RowGroup { folded, rows } in section.groups() {
                match folded {
                    Some(text) => table.push((format!("  {text}").into(), Vec::new())),
                    None => table.extend(
                        rows.iter()
                            .map(|row| (format!("  {}", one_line(&row.id)).into(), row.cells().collect())),
                    ),
                }
            }
        }
        aligned(&table)
    }

    /// Each value of a point with the runs that have it.
    fn values(&self, point: &MatrixPoint) -> Vec<StyledLine> {
        let mut values: Vec<(String, Vec<&str>)> = Vec::new();
        for (value, run) in point.cells().zip(&self.runs).filter(|(value, _)| value != NOTHING) {
            match values.iter_mut().find(|(known, _)| *known == value) {
                Some((_, names)) => names.push(&run.name),
                None => values.push((value, vec![&run.name])),
            }
        }
        let texts = values.iter().map(|(value, names)| format!("{}: {value}", names.join(", ")));
        texts.map(|text| line(TextStyle::Plain, format!("    {}", one_line(&text)))).collect()
    }
}

/// Name and facts of a run.
fn head(run: &MatrixRun) -> [StyledLine; 2] {
    let MatrixRun { name, report, tool, spec, target, started, exit_code, summary } = run;
    let (version, digest) = (one_line(&spec.version), one_line(spec.short_digest()));
    [
        vec![
            (TextStyle::Strong, one_line(name).into_owned()),
            (TextStyle::Plain, format!("  {}: {}", one_line(report), one_line(&target.to_string()))),
        ],
        line(
            TextStyle::Plain,
            format!(
                "  edgeproof {}, {version} {digest}, {}, exit {exit_code}, {}",
                one_line(&tool.version),
                one_line(started),
                summary.line()
            ),
        ),
    ]
}

/// Lines of a first cell and further cells. A line without further cells does not widen the first column.
fn aligned(table: &[(Cow<'_, str>, Vec<String>)]) -> Vec<StyledLine> {
    let width = |text: &str| text.chars().count();
    let with_cells = || table.iter().filter(|(_, cells)| !cells.is_empty());
    let first = with_cells().map(|(text, _)| width(text)).max().unwrap_or(0);
    let count = with_cells().map(|(_, cells)| cells.len()).max().unwrap_or(0);
    let column =
        |at: usize| with_cells().filter_map(|(_, cells)| cells.get(at)).map(|cell| width(cell)).max();
    let columns: Vec<usize> = (0..count).map(|at| column(at).unwrap_or(0)).collect();
    let of = |(text, cells): &(Cow<'_, str>, Vec<String>)| {
        let mut all = format!("{text:first$}");
        for (cell, width) in cells.iter().zip(&columns) {
            put!(all, "  {cell:width$}");
        }
        line(TextStyle::Plain, all)
    };
    table.iter().map(of).collect()
}
