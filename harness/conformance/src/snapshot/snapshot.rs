use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use edgeproof_fixtures::spec::{Row, Spec, Table};

use super::edge_rows;
use super::error::SnapshotError;
use super::row_text::{HEADER, Occurrence, row_text};
use super::service_rows::ServiceRows;

/// File that lists all rows.
pub(super) const INDEX: &str = "rows.txt";
/// Ending of a row's file.
pub(super) const ENDING: &str = ".http";

/// The wire answers of an interface: the text of each file by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<String, String>);

impl Snapshot {
    /// Plays what causes each row, with the mock service and the reference edge, over sockets of this machine.
    pub async fn play(spec: &Arc<Spec>) -> Result<Self, SnapshotError> {
        let mut edge_rows = edge_rows::play(spec).await?;
        let service_rows = ServiceRows::start(spec).await?;
        let mut files = BTreeMap::new();
        let mut index = format!("{HEADER}{INDEX}\n");
        let width = spec.rows().iter().map(|row| row.id.len()).max().unwrap_or_default();
        for row in spec.rows() {
            let occurrences: Vec<Occurrence> = match edge_rows.remove(&row.id) {
                Some(occurrences) => occurrences,
                None => service_rows.play(row).await?,
            };
            let name = file_name(row);
            let listed = match row.table {
                _ if !occurrences.is_empty() => &name,
                Table::Edge | Table::Relay | Table::Verdict => "no request causes it",
                _ => "no wire answer",
            };
            _ = writeln!(index, "{:width$}  {listed}", row.id);
            if !occurrences.is_empty() {
                files.insert(name, row_text(row, &occurrences));
            }
        }
        files.insert(INDEX.to_owned(), index);
        Ok(Self(files))
    }

    /// A snapshot with these files.
    #[cfg(test)]
    pub(super) fn of(files: BTreeMap<String, String>) -> Self {
        Self(files)
    }

    /// The text of each file, by its name.
    pub fn files(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}

/// Name of a row's file.
fn file_name(row: &Row) -> String {
    format!("{}{ENDING}", row.id)
}
