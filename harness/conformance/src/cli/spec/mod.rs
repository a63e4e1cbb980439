//! `edgeproof spec`: the rows of the interface, their export, and which of them runs have proven.

mod authority;
mod coverage;
mod diff;
mod evidence;
mod export;
mod interface_args;
mod list;
mod matrices;
mod play;
mod revision;
mod row_cases;
mod sections;
mod show;
mod snapshot;

use clap::{Args, Subcommand};
use edgeproof_cli::{Failure, write_stdout};

use coverage::CoverageArgs;
use diff::DiffArgs;
use export::ExportCommand;
use interface_args::InterfaceArgs;
pub(in crate::cli) use row_cases::RowCases;
use snapshot::SnapshotArgs;

#[derive(Debug, Args)]
pub(super) struct SpecArgs {
    #[command(subcommand)]
    command: SpecCommand,
}

#[derive(Debug, Subcommand)]
enum SpecCommand {
    /// List all rows
    List {
        /// Print JSON, with the stimuli and cases of each row
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        interface: InterfaceArgs,
    },
    /// Show a row, an open point of the reference profile, or a case with its rows
    Show {
        /// Id of the row, open point or case, such as relay.401.bad-signature
        id: String,
        #[command(flatten)]
        interface: InterfaceArgs,
    },
    /// Compare two versions of the interface, and play the old parts against the new rows
    Diff(DiffArgs),
    /// Write the wire answers of every row to a folder, or compare them with one
    Snapshot(SnapshotArgs),
    /// Export the interface as tables, OpenAPI, Markdown or HTML
    #[command(subcommand)]
    Export(ExportCommand),
    /// Add reports, and print which rows they prove
    Coverage(CoverageArgs),
}

/// `edgeproof spec`.
pub(super) fn main(args: &SpecArgs) -> Result<u8, Failure> {
    let text = match &args.command {
        SpecCommand::List { json, interface } => {
            let spec = interface.spec.load()?;
            if *json { list::json(&spec)? } else { list::text(&spec) }
        }
        SpecCommand::Show { id, interface } => show::text(&interface.spec.load()?, id)?,
        SpecCommand::Diff(args) => return diff::main(args),
        SpecCommand::Snapshot(args) => return snapshot::main(args),
        SpecCommand::Export(command) => command.run()?,
        SpecCommand::Coverage(args) => return coverage::run(args),
    };
    write_stdout(text.as_bytes())?;
    Ok(0)
}
