//! `edgeproof report`: what JSON reports of runs show, one by one and together.

mod column;
mod diff;
mod matrix;
mod show;
mod stored;

use clap::{Args, Subcommand};
use edgeproof_cli::Failure;

use diff::DiffArgs;
use matrix::MatrixArgs;
use show::ShowArgs;

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    #[command(subcommand)]
    command: ReportCommand,
}

#[derive(Debug, Subcommand)]
enum ReportCommand {
    /// Show a run again, in any format of reports
    Show(ShowArgs),
    /// Compare two runs: what the target broke or fixed, and which checks are new
    Diff(DiffArgs),
    /// Put runs side by side: several edges, or several versions of one
    Matrix(MatrixArgs),
}

/// `edgeproof report`.
pub(super) fn main(args: &ReportArgs) -> Result<u8, Failure> {
    match &args.command {
        ReportCommand::Show(args) => show::main(args),
        ReportCommand::Diff(args) => diff::main(args),
        ReportCommand::Matrix(args) => matrix::main(args),
    }
}
