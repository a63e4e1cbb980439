//! What a run found: one stream of events in, every report a reader of it.
//!
//! This crate judges nothing. It imports neither `fixtures` nor `harness`.

mod detail;
mod error;
pub mod escape;
mod event;
mod figures;
mod file;
mod format;
pub mod github;
pub mod html;
pub mod json;
pub mod junit;
pub mod load;
pub mod markdown;
pub mod matrix;
mod outcome;
mod recorder;
mod sections;
mod terminal;

pub use error::ReportError;
pub use event::{Event, Reader};
pub use file::{FileReport, render};
pub use format::{Format, open, open_titled};
pub use github::Github;
pub use json::{Report, report_schema};
pub use outcome::{
    AddedLatency, Basis, CaseReport, EdgeNotes, Exchange, Hop, Level, Mismatch, Observation, Outcome,
    Summary, TargetKind,
};
pub use recorder::Recorder;
pub use sections::{Section, Titles, by_section};
pub use terminal::{Terminal, TerminalOptions};
