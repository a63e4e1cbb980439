//! Command line of `edgeproof`: one module for each command.

mod args;
mod conformance;
mod edge;
mod mint;
mod mock;
mod service_url;
mod spec;

use std::process::ExitCode;

use args::{Arguments, Command};

/// The program `edgeproof`.
pub fn main() -> ExitCode {
    edgeproof_cli::run_program(|arguments: Arguments| match arguments.command {
        Command::Conformance(args) => conformance::main(&args),
        Command::Spec(args) => spec::main(&args),
        Command::Mint(args) => mint::main(&args),
        Command::Mock(args) => mock::main(&args),
        Command::Edge(args) => edge::main(&args),
    })
}
