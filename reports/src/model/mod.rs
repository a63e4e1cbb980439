//! Report model: the facts about a run that every format shows.

mod advice;
mod case;
mod cause;
mod cause_group;
mod confirmation;
mod event;
mod missing_input;
mod outcome;
mod release_version;
mod report;
mod sections;
mod summary;
mod target;

pub use advice::{AdviceNote, AdviceValue};
pub(crate) use case::by_point;
pub use case::{CaseReport, EdgeNotes, Exchange, Hop, Mismatch, Observation};
pub use cause::{Cause, FrameworkFix};
pub(crate) use cause_group::{CauseGroup, cases_by_cause, cause_groups, headline};
pub use confirmation::Confirmation;
pub use event::{Event, Reader};
pub use missing_input::MissingInput;
pub use outcome::{CaseBasis, CaseLevel, Outcome};
pub use release_version::{ReleaseVersion, VersionError};
pub(crate) use report::SCHEMA;
pub use report::{Report, ReportedSpec, Tool};
pub use sections::Titles;
pub(crate) use sections::{by_reason, by_section, natural, titled};
pub use summary::{AddedLatency, Summary};
pub use target::{ReportedTarget, TargetKind};
