use super::coverage::{Column, Coverage, RowState};
use crate::text::escape::one_line;
use crate::text::units::counted;

impl Coverage {
    /// Text for a terminal: a table of the sections, then the rows that are not proven, each with its reasons.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "{} of the interface {} in {}\n",
            counted(self.rows().count(), "row"),
            one_line(&self.spec.version),
            counted(self.reports.len(), "report")
        );
        for line in self.other_tables() {
            put!(text, "{}\n", one_line(&line));
        }
        text.push('\n');
        let headings: Vec<_> = self.sections.iter().map(|section| one_line(&section.heading)).collect();
        let width = headings.iter().map(|heading| heading.chars().count()).max().unwrap_or(0);
        put!(text, "{:width$}", "section");
        for column in self.columns(None) {
            put!(text, "  {:>1$}", column.name, column.width());
        }
        text.push('\n');
        for (heading, section) in headings.iter().zip(&self.sections) {
            put!(text, "{heading:width$}");
            cells(&mut text, &self.columns(Some(section)));
        }
        put!(text, "{:width$}", "total");
        cells(&mut text, &self.columns(None));
        for state in [RowState::Failed, RowState::Warned, RowState::Excluded, RowState::Untested] {
            self.list(&mut text, state);
        }
        self.list_survivors(&mut text);
        text
    }

    /// The rows of a state, each with its reasons.
    fn list(&self, text: &mut String, state: RowState) {
        let rows: Vec<_> = self.rows().filter(|row| row.state == state).collect();
        if rows.is_empty() {
            return;
        }
        put!(text, "\n{}\n", state.name());
        for row in rows {
            put!(text, "  {} ({}, §{})", one_line(&row.id), row.level, row.section);
            match row.why.as_slice() {
                [why] => put!(text, ": {}\n", one_line(why)),
                reasons => {
                    text.push('\n');
                    for why in reasons {
                        put!(text, "    {}\n", one_line(why));
                    }
                }
            }
        }
    }

    /// The mutants that no case of their row detects.
    fn list_survivors(&self, text: &mut String) {
        let mut survivors = self.rows().flat_map(|row| row.survived.iter().map(move |mutant| (row, mutant)));
        let Some(first) = survivors.next() else { return };
        text.push_str("\nsurvived\n");
        for (row, mutant) in std::iter::once(first).chain(survivors) {
            put!(text, "  {} ({})\n", one_line(mutant), one_line(&row.id));
        }
    }
}

fn cells(text: &mut String, columns: &[Column]) {
    for column in columns {
        let count = if column.count == 0 { "-".to_owned() } else { column.count.to_string() };
        put!(text, "  {count:>0$}", column.width());
    }
    text.push('\n');
}
