//! Whole runs of the program: edges that conform, edges that misbehave, and what none of them may give away.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which the lints do not know as such")]

mod attached;
mod hostile;
#[path = "../cli/program.rs"]
mod program;
mod reference;
mod secrets;
mod support;
