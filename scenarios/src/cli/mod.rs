//! The command line: arguments, output and exit codes. No other module prints or sets an exit code.

mod args;
mod gather;
mod load;
mod load_plan;
mod output;
mod progress;
mod project;
mod prometheus;
mod self_test;
mod system_under_test;
mod user_count;

use std::process::ExitCode;

use edgeproof_cli::Failure;

use args::{LoadArguments, LoadCommand};

use crate::plan::ScenarioName;

/// Runs the program `edgeproof-load`.
pub fn main() -> ExitCode {
    edgeproof_cli::run_program(|arguments: LoadArguments| run(arguments.command))
}

fn run(command: LoadCommand) -> Result<u8, Failure> {
    match command {
        LoadCommand::EdgeRelay(args) => load::main(Some(ScenarioName::EdgeRelay), *args),
        LoadCommand::VerdictPolling(args) => load::main(Some(ScenarioName::VerdictPolling), *args),
        LoadCommand::Journey(args) => load::main(Some(ScenarioName::Journey), *args),
        LoadCommand::Mixed(args) => load::main(None, *args),
        LoadCommand::Run(args) => run(project::command_of(&args)?),
        LoadCommand::Merge(args) => output::merged(&args),
        LoadCommand::Gather(args) => gather::main(&args),
        LoadCommand::SelfTest(args) => self_test::main(&args),
        LoadCommand::Schema => output::schema(),
        LoadCommand::Completions(args) => args.print::<LoadArguments>(),
    }
}
