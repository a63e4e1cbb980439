//! `edgeproof conformance`: arguments → validated plan → run.

mod args;
mod cases;
mod collector;
mod misplaced;
mod output;
mod plan;
mod rerun;
mod sequences;
mod service;

pub(crate) use args::ConformanceArgs;

use std::sync::Arc;
use std::time::Duration;

use clap::{Args as _, Command};
use edgeproof_cli::args::ReportArgument;
use edgeproof_cli::{Failure, runtime, signals, write_stdout};
use edgeproof_fixtures::spec::PartName;

use crate::cli::config::{ConfigArgs, Given, InForce, Positional, in_force};
use crate::run::Pins;
use output::{emit, finish};
use plan::{PlannedCommand, PlannedRun, plan};

/// Longest wait for background work at the end of a run.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// The command with its options.
pub(super) fn command() -> Command {
    ConformanceArgs::augment_args(Command::new("conformance"))
}

/// `edgeproof conformance`.
pub(super) fn main(given: &Given<ConformanceArgs>) -> Result<u8, Failure> {
    let in_force = complete(given)?;
    let args = &in_force.args;
    let runtime = runtime()?;
    // Before the plan writes credentials to files: a killed process would leave them behind.
    let interrupted = {
        let _context = runtime.enter();
        signals::catch()?
    };
    // The file may hold what is wrong.
    let planned = plan(args, &given.args, &runtime).inspect_err(|_| in_force.note())?;
    match planned {
        PlannedCommand::List(plan) => write_stdout(plan.to_string().as_bytes()).map(|()| 0),
        PlannedCommand::Run(run) => {
            match &in_force.line {
                Some(line) if !ReportArgument::any_to_stdout(&args.report) => {
                    write_stdout(format!("{line}\n").as_bytes())?;
                }
                _ => in_force.note(),
            }
            let code = runtime.block_on(execute(*run, interrupted));
            runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
            code
        }
    }
}

/// The arguments, completed by `edgeproof.toml`.
fn complete(given: &Given<ConformanceArgs>) -> Result<InForce<ConformanceArgs>, Failure> {
    let args = &given.args;
    let config =
        ConfigArgs { no_config: args.config.no_config || args.embedded, target: args.config.target.clone() };
    let mut completed = in_force("conformance", &command(), given, &config, positional(args))?;
    completed.args.edge.launch_folder = completed.folder("launch");
    completed.args.state_folder = completed.folder("state_command");
    completed.args.open_folder = completed.folder("open_with");
    Ok(completed)
}

/// A part, or the URL of an edge.
fn positional(args: &ConformanceArgs) -> Positional<'_> {
    let word = args.target.as_deref();
    let part = word.map(|word| word.parse().ok());
    Positional { word, part: part.map(|part| part.unwrap_or(PartName::Edge)), is_url: part == Some(None) }
}

async fn execute(
    planned: PlannedRun,
    interrupted: impl Future<Output = signals::Interruption>,
) -> Result<u8, Failure> {
    let PlannedRun { run, record, mut readers } = planned;
    let spec = Arc::clone(&run.target.spec);
    let mut was_interrupted = false;
    let signal = async {
        let signal = interrupted.await;
        was_interrupted = true;
        signal.exit_code()
    };
    let result = run.execute_with(&mut |event| emit(&mut readers, &event), signal).await.map_err(|why| {
        Failure::of(&why, "choose another address with --service-listen, or stop the program that uses it")
    })?;
    let code = finish(readers, result.exit_code);
    // Half a run observes too few points for a record.
    let Some(path) = record.filter(|_| !was_interrupted) else { return Ok(code) };
    let Err(why) = Pins::record(&path, &result.observations, spec.profile()) else { return Ok(code) };
    // A missing record turns success into an error, as a missing report does.
    let error = Failure::from(why).print();
    Ok(if code == 0 { error } else { code })
}
