//! Several runs side by side: the rows of the interface as lines, the runs as columns.

mod build;
mod markdown;
mod model;
mod text;

pub use build::NamedRun;
pub use model::{MatrixPoint, MatrixRow, MatrixRun, MatrixSection, RowOutcome, RunMatrix};
