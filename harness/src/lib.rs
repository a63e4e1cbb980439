//! The conformance harness: mock service, reference edge, targets, cases, judging, and the run that ties them.

pub mod cli;
pub mod mock;
pub mod target;
pub mod wire;
