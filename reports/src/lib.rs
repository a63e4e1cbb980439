//! Report formats of edgeproof: a run is one stream of events, and every report reads that stream.
//!
//! | module | contents |
//! |---|---|
//! | [`comparison`] | what changed between two runs |
//! | [`difference`] | differences between expected and actual behaviour, and their text |
//! | `model` | outcomes, cases, events and the whole [`Report`] |
//! | `text` | cases, causes, escaping, units, HTML pages and styled lines that several formats share |
//! | `format` | one module for each format of a conformance run |
//! | [`load`] | the report of a load run and its formats |
//! | [`interface`] | two versions of an interface compared, and what reports prove of one: data and page |
//! | [`matrix`] | the report of a mutation run and its page |
//! | [`run_matrix`] | several runs side by side: data, text and page |
//! | `templates/` | HTML pages, for the modules that render them |
//! | `document`, `destination` | reading JSON documents, writing files |
//! | [`schemas`] | the published JSON Schemas |
//!
//! This crate judges nothing and imports no other crate of edgeproof.

#[macro_use]
mod macros;

pub mod comparison;
mod destination;
pub mod difference;
mod document;
mod format;
pub mod interface;
pub mod load;
pub mod matrix;
mod model;
pub mod run_matrix;
pub mod schemas;
mod text;

pub use destination::{Destination, WriteError};
pub use document::ReadError;
pub use format::{EarlierRun, FileReport, Format, Github, Terminal, TerminalOptions, render};
pub use model::{
    AddedLatency, AdviceNote, AdviceValue, CaseBasis, CaseLevel, CaseReport, Cause, Confirmation, EdgeNotes,
    Event, Exchange, FrameworkFix, Hop, Mismatch, MissingInput, Observation, Outcome, Reader, ReleaseVersion,
    Report, ReportedSpec, ReportedTarget, Summary, TargetKind, Titles, Tool, VersionError,
};
pub use text::units::counted;
pub use text::{escape, page};
