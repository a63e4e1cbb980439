//! Targets with real programs: start, end and cleanup.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "the lints do not recognise test helpers")]

mod attach;
mod embedded;
mod end;
mod launch;
mod program;
