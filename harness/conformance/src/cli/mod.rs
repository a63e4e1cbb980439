//! Command line of `edgeproof`: one module for each command.

mod config;
mod conformance;
mod doctor;
mod edge;
mod edges;
mod explain;
mod init;
mod inputs;
mod mint;
mod mock;
mod other_id;
mod output_form;
mod part_names;
mod report;
mod run_text;
mod serve;
mod spec;
mod spec_option;

pub use explain::explain_case;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use edgeproof_cli::CompletionsArgs;

use config::{ConfigCommandArgs, Given};
use conformance::ConformanceArgs;
use doctor::DoctorArgs;
use edge::EdgeArgs;
use explain::ExplainArgs;
use init::InitArgs;
use mint::MintArgs;
use mock::MockArgs;
use report::ReportArgs;
use serve::ServeArgs;
use spec::SpecArgs;

/// Conformance tests for the edge, the service and the key set of a browser verification service
#[derive(Debug, Parser)]
#[command(name = "edgeproof", version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: CliCommand,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Test an edge, a service or a key set
    Conformance(Box<Given<ConformanceArgs>>),
    /// Set edgeproof up in this folder: write edgeproof.toml and a CI workflow, and run the conformance tests once
    Init(InitArgs),
    /// Check what a run needs: this machine, the start of your edge, and its use of each setting
    Doctor(Box<Given<DoctorArgs>>),
    /// Start edge and mock service for one case, and judge each request that the edge sends
    Serve(Box<Given<ServeArgs>>),
    /// Explain a case, a row or a cause: what is required and why, an example, typical mistakes and their fixes
    Explain(ExplainArgs),
    /// Show or export the rows of the interface, and add up which rows reports prove
    Spec(SpecArgs),
    /// Show JSON reports of runs, compare two, or put several side by side
    Report(ReportArgs),
    /// Print the options that edgeproof.toml and the environment set, and where each value comes from
    Config(ConfigCommandArgs),
    /// Make credentials and collections, valid or invalid, for tests with the mock service
    Mint(MintArgs),
    /// Run the mock service, for tests of edges and backends
    Mock(Box<MockArgs>),
    /// Run the reference edge, with its settings from the environment
    Edge(EdgeArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
}

/// The program `edgeproof`.
pub fn main() -> ExitCode {
    edgeproof_cli::run_program(|arguments: Cli| match arguments.command {
        CliCommand::Conformance(args) => conformance::main(&args),
        CliCommand::Init(args) => init::main(&args),
        CliCommand::Doctor(args) => doctor::main(&args, &conformance::command()),
        CliCommand::Serve(args) => serve::main(&args, &conformance::command()),
        CliCommand::Explain(args) => explain::main(&args),
        CliCommand::Spec(args) => spec::main(&args),
        CliCommand::Report(args) => report::main(&args),
        CliCommand::Config(args) => config::main(&args, &conformance::command()),
        CliCommand::Mint(args) => mint::main(&args),
        CliCommand::Mock(args) => mock::main(&args),
        CliCommand::Edge(args) => edge::main(&args),
        CliCommand::Completions(args) => args.print::<Cli>(),
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
