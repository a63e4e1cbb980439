//! Arguments and what is printed: the only place that prints or decides on an exit code.

mod args;
mod failure;
mod load;
mod load_plan;
mod merge;
mod output;
mod progress;
mod prometheus;
mod self_test;
mod system_under_test;
mod unused_options;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use failure::Failure;

/// A threshold is broken; what was to be proven is not so.
pub const EXIT_BROKEN: u8 = 1;
/// The command, or a file that it names, is wrong.
pub const EXIT_USAGE: u8 = 2;
/// It could not run, or its figures prove nothing.
pub const EXIT_INCOMPLETE: u8 = 3;

/// The program `edgeproof-load`.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help goes to standard output with 0, everything else to standard error with 2.
            let code = if error.use_stderr() { EXIT_USAGE } else { 0 };
            return ExitCode::from(if error.print().is_ok() { code } else { EXIT_USAGE });
        }
    };
    let done = match arguments.command {
        Command::EdgeRelay(args) => load::main("edge-relay", *args),
        Command::VerdictPolling(args) => load::main("verdict-polling", *args),
        Command::Journey(args) => load::main("journey", *args),
        Command::Mixed(args) => load::main("mixed", *args),
        Command::Merge(args) => merge::main(&args),
        Command::SelfTest(args) => self_test::main(&args),
        Command::Schema => Ok(output::schema()),
    };
    ExitCode::from(done.unwrap_or_else(Failure::print))
}

/// A runtime for what does I/O.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|why| {
        Failure::usage(format!("start the runtime: {why}"), "check the limits on threads and open files")
    })
}
