//! Conformance of the parts of a browser verification service: cases, judging, targets, and the run that ties them.

pub mod cases;
pub mod cli;
mod curl;
pub mod judge;
pub mod monitor;
pub mod run;
pub mod target;
