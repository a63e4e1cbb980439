//! The command line: arguments, output and exit codes. No other module prints or sets an exit code.

mod args;
mod exit_code;
mod failure;
mod input_file;
mod latency_probe;
mod load;
mod load_plan;
mod merge;
mod output;
mod progress;
mod prometheus;
mod required_parts;
mod routes;
mod runtime;
mod scenarios;
mod secrets;
mod self_test;
mod system_under_test;
mod unused_options;

use std::process::ExitCode;

use clap::FromArgMatches as _;

use args::{Arguments, Command};
use exit_code::EXIT_USAGE;
use failure::Failure;

/// Runs the program `edgeproof-load`.
pub fn main() -> ExitCode {
    let arguments =
        match args::command().try_get_matches().and_then(|matches| Arguments::from_arg_matches(&matches)) {
            Ok(arguments) => arguments,
            Err(error) => {
                // Help goes to standard output with exit code 0, errors go to standard error with 2.
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
