//! Whole runs of the program, with conforming and misbehaving edges.
#![expect(clippy::unwrap_used, reason = "the lints do not recognise test helpers")]

mod attached;
mod hostile;
#[path = "../cli/program.rs"]
mod program;
mod reference;
mod secrets;
mod support;
