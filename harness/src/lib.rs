//! The conformance harness: mock service, reference edge, targets, cases, judging, and the run that ties them.

pub mod cases;
pub mod cli;
pub mod judge;
pub mod mock;
pub mod run;
pub mod target;
pub mod wire;
