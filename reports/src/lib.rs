//! What a run found: one stream of events in, every report a reader of it.
//!
//! This crate judges nothing. It imports neither `fixtures` nor `harness`.

mod event;
mod outcome;

pub use event::{Event, Reader};
pub use outcome::{
    AddedLatency, Basis, CaseReport, EdgeNotes, Exchange, Hop, Level, Mismatch, Observation, Outcome, Summary, TargetKind,
};
