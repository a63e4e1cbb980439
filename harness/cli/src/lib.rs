//! Command line parts that edgeproof's programs share: diagnostics, exit codes, signals, log output.

pub mod authority;
mod error_text;
pub mod exit_code;
mod failure;
mod lines;
mod program;
pub mod signals;

pub use error_text::error_text;
pub use failure::Failure;
pub use lines::{Lines, Written};
pub use program::{command, run_program, runtime};
