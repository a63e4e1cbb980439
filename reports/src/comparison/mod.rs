//! Comparison of two runs: what the target broke or fixed, and what edgeproof checks more or less than before.

mod case_change;
mod compare;
mod error;
mod markdown;
mod model;
mod text;

pub use case_change::CaseChange;
pub use error::ComparisonError;
pub use model::{ChangedObservation, ComparedCase, ComparedRun, ComparisonSummary, RunComparison};
