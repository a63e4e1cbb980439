//! Targets with real programs: how they are started, how they end, and that nothing of them is left.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, which the lints do not know as such"
)]

mod attach;
mod embedded;
mod end;
mod launch;
mod program;
