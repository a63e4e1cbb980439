//! Runs side by side, for a document. Text from outside stands in code, so that it is never Markdown.

use super::model::{MatrixRun, RowGroup, RunMatrix};
use crate::text::markdown::{code, literal};

impl RunMatrix {
    /// Markdown: the runs, the rows by section, and the open points that differ. Rows in which nothing failed are folded.
    pub fn to_markdown(&self) -> String {
        let mut out = format!("{}\n", self.line());
        self.head(&mut out, "");
        self.fact(&mut out, "Target", |run| code(&run.target.to_string()));
        self.fact(&mut out, "edgeproof", |run| code(&run.tool.version));
        self.fact(&mut out, "Interface", |run| code(&run.spec.short()));
        self.fact(&mut out, "Started", |run| code(&run.started));
        self.fact(&mut out, "Exit code", |run| run.exit_code.to_string());
        self.fact(&mut out, "Cases", |run| run.summary.line());
        if let Some(text) = self.other_tables() {
            put!(out, "\n{}\n", code(&text));
        }
        for section in &self.sections {
            put!(out, "\n#### {}\n", literal(&section.heading));
            for RowGroup { folded, rows } in section.groups() {
                if let Some(text) = &folded {
                    put!(out, "\n<details><summary>{text}</summary>\n");
                }
                self.head(&mut out, "Row");
                for row in rows {
                    line(&mut out, &code(&row.id), row.cells());
                }
                if folded.is_some() {
                    out.push_str("\n</details>\n");
                }
            }
        }
        if !self.observations.is_empty() {
            out.push_str("\n#### Open points that differ\n");
            self.head(&mut out, "Open point");
        }
        for point in &self.observations {
            line(&mut out, &code(&point.point), point.cells().map(|text| code(&text)));
        }
        out
    }

    /// The head of a table with a column for each run.
    fn head(&self, out: &mut String, first: &str) {
        out.push('\n');
        line(out, first, self.runs.iter().map(|run| literal(&run.name)));
        put!(out, "|---|{}\n", "---|".repeat(self.runs.len()));
    }

    fn fact(&self, out: &mut String, name: &str, value: impl Fn(&MatrixRun) -> String) {
        line(out, name, self.runs.iter().map(value));
    }
}

fn line(out: &mut String, first: &str, cells: impl Iterator<Item = String>) {
    put!(out, "| {first} |");
    for cell in cells {
        put!(out, " {cell} |");
    }
    out.push('\n');
}
