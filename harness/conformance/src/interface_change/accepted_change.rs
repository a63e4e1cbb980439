use serde::Serialize;

use super::comparison::Comparison;

/// A line of the file of accepted changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AcceptedChange {
    /// Id of the row or open point, or the number of the section.
    pub row: String,
    /// Why its change is accepted.
    pub reason: String,
    /// Number of the line.
    pub line: usize,
    /// Nothing with this id changed.
    pub stale: bool,
}

impl Comparison {
    /// Notes the accepted changes, and which of them are stale.
    pub fn accept(&mut self, accepted: Vec<AcceptedChange>) {
        self.accepted = accepted;
        for change in &mut self.accepted {
            let mut others = self.points.iter().chain(&self.sections);
            change.stale = !self.changes.iter().any(|row| row.row == change.row)
                && !others.any(|other| other.field == change.row);
        }
    }

    /// Whether the change of a row, an open point or a section is accepted.
    pub fn is_accepted(&self, id: &str) -> bool {
        self.accepted.iter().any(|change| change.row == id)
    }
}
