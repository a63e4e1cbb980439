//! Snapshot of the wire: for each row with an answer, the exchanges that cause it, as text that two runs share.

mod difference;
mod edge_rows;
mod error;
mod exchange;
mod folder;
mod placeholders;
mod row_text;
mod service_rows;
#[expect(clippy::module_inception, reason = "the folder is named after its main type")]
mod snapshot;

pub use difference::FileDifference;
pub use error::SnapshotError;
pub use folder::{FolderError, SnapshotFolder, SnapshotWriter, Written};
pub use snapshot::Snapshot;
