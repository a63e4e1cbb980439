//! The command line: arguments, output and exit codes. No other module prints or sets an exit code.

mod args;
mod input_file;
mod latency_probe;
mod load;
mod load_plan;
mod merge;
mod output;
mod progress;
mod prometheus;
mod scenarios;
mod secrets;
mod self_test;
mod system_under_test;
mod unused_options;

use std::process::ExitCode;

use args::{Command, LoadArguments};

/// Runs the program `edgeproof-load`.
pub fn main() -> ExitCode {
    edgeproof_cli::run_program(|arguments: LoadArguments| match arguments.command {
        Command::EdgeRelay(args) => load::main("edge-relay", *args),
        Command::VerdictPolling(args) => load::main("verdict-polling", *args),
        Command::Journey(args) => load::main("journey", *args),
        Command::Mixed(args) => load::main("mixed", *args),
        Command::Merge(args) => merge::main(&args),
        Command::SelfTest(args) => self_test::main(&args),
        Command::Schema => output::schema(),
    })
}
