//! Command line of `edgeproof`: arguments, what is printed, exit codes.

mod args;
mod conformance;
mod edge;
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
mod plan;
mod plan_edges;
mod plan_service;
mod spec;

use std::process::ExitCode;

use args::{Arguments, Command};

/// The program `edgeproof`.
pub fn main() -> ExitCode {
    edgeproof_cli::run_program(|arguments: Arguments| match arguments.command {
        Command::Conformance(args) => conformance::main(*args),
        Command::Spec(args) => spec::main(&args),
        Command::Mint(args) => mint::main(&args),
        Command::Mock(args) => mock::main(&args),
        Command::Edge(args) => edge::main(&args),
    })
}
