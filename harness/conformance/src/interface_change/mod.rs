//! What a change of the interface means: the changed rows, and for each part whether the old part fits the new rows.

mod accepted_change;
mod class;
mod comparison;
mod duty;
mod part_play;
mod row_change;
mod target_side;
mod touched;
mod view;
mod wire;

pub use accepted_change::AcceptedChange;
pub use class::PartClass;
pub use comparison::{Comparison, ComparisonOptions, RowComparison};
pub use duty::{Duty, DutyOwner};
pub use edgeproof_reports::interface::Class;
pub use part_play::PlayError;
pub use row_change::{FieldChange, RowChange};
pub use target_side::TargetSide;
pub use touched::Touched;
