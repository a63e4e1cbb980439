//! The conformance harness: mock service, reference edge, targets, cases, judging, and the run that ties them.

pub mod admin;
pub mod cases;
pub mod cli;
pub mod deviations;
pub mod judge;
pub mod magic;
pub mod mock;
pub mod run;
pub mod target;
pub mod wire;

/// An error with what lies under it, in one line.
pub(crate) fn error_text(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let under = error.to_string();
        // Transparent errors repeat what lies under them.
        if !text.contains(&under) {
            text = format!("{text}: {under}");
        }
        source = error.source();
    }
    text
}
