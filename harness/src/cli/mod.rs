//! Arguments and what is printed: the only place that prints or decides on an exit code.

mod args;
mod authority;
mod conformance;
mod edge;
mod failure;
mod lines;
mod mint;
mod mint_certificates;
mod mint_collection;
mod mint_output;
mod mint_source;
mod mint_tokens;
mod mock;
mod mock_log;
mod mock_magic;
mod mock_ready;
mod mutants;
mod plan;
mod plan_desk;
mod plan_edges;
pub mod signals;
mod spec;

use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use failure::Failure;

/// The command or a file that it names is wrong.
pub const EXIT_USAGE: u8 = 2;

/// The program `edgeproof`.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help goes to standard output with 0, everything else to standard error with 2.
            let code = if error.use_stderr() { EXIT_USAGE } else { 0 };
            // Whoever closed the pipe has seen enough.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let done = match arguments.command {
        Command::Conformance(args) => conformance::main(*args),
        Command::Spec(args) => spec::main(&args),
        Command::Mint(args) => mint::main(&args),
        Command::Mock(args) => mock::main(&args),
        Command::Mutants(args) => mutants::main(&args),
        Command::Edge(args) => edge::main(&args),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            failure.print();
            ExitCode::from(EXIT_USAGE)
        }
    }
}

/// A runtime for what does I/O.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|why| {
        Failure::plain(format!("start the runtime: {why}"), "check the limits on threads and open files")
    })
}
