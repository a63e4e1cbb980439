//! What a run reports: each case with its texts and how to reproduce it, and the result of all.

mod case_report;
#[cfg(test)]
mod case_report_tests;
mod doubtful;
mod hints;
mod report_builder;
mod reproduction;

pub use case_report::outcome_of;
pub(in crate::run) use case_report::{after_run, timeout_check, without_run};
pub(in crate::run) use hints::{hint, write_hints};
pub(in crate::run) use report_builder::ReportBuilder;
pub use reproduction::RerunCommand;
pub(crate) use reproduction::exchanges;
