//! `edgeproof report`: what JSON reports of runs show together.

mod diff;

use clap::{Args, Subcommand};
use edgeproof_cli::Failure;

use diff::DiffArgs;

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    #[command(subcommand)]
    command: ReportCommand,
}

#[derive(Debug, Subcommand)]
enum ReportCommand {
    /// Compare two runs: what the target broke or fixed, and which checks are new
    Diff(DiffArgs),
}

/// `edgeproof report`.
pub(super) fn main(args: &ReportArgs) -> Result<u8, Failure> {
    match &args.command {
        ReportCommand::Diff(args) => diff::main(args),
    }
}
