//! What a run plans: the selected cases, known failures and pinned points.

mod baseline;
mod baseline_lines;
mod case_plan;
mod pins;
mod point_record;
mod selection;

pub use baseline::{Baseline, BaselineError};
pub use case_plan::{CasePlan, PlannedCase, UnmetNeed};
pub use pins::{PinError, Pins};
pub use selection::{Selection, SelectionError};
