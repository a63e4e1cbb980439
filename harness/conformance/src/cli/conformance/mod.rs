//! `edgeproof conformance`: arguments → validated plan → run.

mod again;
mod args;
mod cases;
mod collector;
mod last_run;
mod misplaced;
mod new_baseline;
mod output;
mod plan;
mod rerun;
mod sequences;
mod service;

pub(crate) use args::ConformanceArgs;

use std::io::{Write as _, stderr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args as _, Command, FromArgMatches as _};
use edgeproof_cli::args::ReportArgument;
use edgeproof_cli::{FEWEST_OPEN_FILES, Failure, open_files_limit, runtime, signals, write_stdout};
use edgeproof_reports::Event;

use crate::cli::config::{ConfigArgs, Given, InForce, Positional, in_force};
use crate::run::Pins;
use new_baseline::NewBaseline;
use output::{emit, finish};
use plan::{PlannedCommand, PlannedRun, plan};

/// Longest wait for background work at the end of a run.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// The command with its options.
pub(super) fn command() -> Command {
    ConformanceArgs::augment_args(Command::new("conformance"))
}

/// Checks `edgeproof.toml` as [`run_file`] does, and runs nothing.
pub(super) fn check_file() -> Result<(), Failure> {
    complete(&no_options()?).map(drop)
}

/// Runs what `edgeproof.toml` says, as `edgeproof conformance` without options. Yields the exit code.
pub(super) fn run_file() -> Result<u8, Failure> {
    main(&no_options()?)
}

/// The arguments of a command line without options.
fn no_options() -> Result<Given<ConformanceArgs>, Failure> {
    let command = Given::<ConformanceArgs>::augment_args(Command::new("conformance"));
    let matches = command.try_get_matches_from(["conformance"]).map_err(Failure::arguments)?;
    Given::from_arg_matches(&matches).map_err(Failure::arguments)
}

/// Writes the failures of the last run in the working directory to a new baseline. Yields what was done; None: that run was not
/// kept.
pub(super) fn baseline_of_last_run(path: &Path) -> Result<Option<String>, Failure> {
    let Some(report) = last_run::read(Path::new(""))? else { return Ok(None) };
    NewBaseline::new(path, false)?.write(&report).map(Some)
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
            check_open_files()?;
            match &in_force.line {
                Some(line) if !ReportArgument::any_to_stdout(&args.report) => {
                    write_stdout(format!("{line}\n").as_bytes())?;
                }
                _ => in_force.note(),
            }
            let code = runtime.block_on(execute(
                *run,
                args.project.as_deref().unwrap_or(Path::new("")),
                interrupted,
            ));
            runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
            code
        }
    }
}

/// Without enough of them, a correct target would be blamed for connections that edgeproof cannot open.
fn check_open_files() -> Result<(), Failure> {
    let Some(limit) = open_files_limit().filter(|limit| *limit < FEWEST_OPEN_FILES) else { return Ok(()) };
    let what = format!("cannot judge a target with {limit} open files: a run needs {FEWEST_OPEN_FILES}");
    let advice = "raise the limit, such as with `ulimit -Hn 8192` as root; `edgeproof doctor` checks it";
    Err(Failure::usage(what, advice).incomplete())
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
    completed.args.project.clone_from(&completed.project);
    Ok(completed)
}

/// A part, or the URL of an edge.
fn positional(args: &ConformanceArgs) -> Positional<'_> {
    match args.target.as_deref() {
        None => Positional::Absent,
        Some(word) => word.parse().map_or(Positional::Url(word), Positional::Part),
    }
}

async fn execute(
    planned: PlannedRun,
    project: &Path,
    interrupted: impl Future<Output = signals::Interruption>,
) -> Result<u8, Failure> {
    let PlannedRun { run, notice, record, baseline, mut readers } = planned;
    let spec = Arc::clone(&run.target.spec);
    let mut was_interrupted = false;
    let signal = async {
        let signal = interrupted.await;
        was_interrupted = true;
        signal.exit_code()
    };
    if let Some(notice) = notice {
        emit(&mut readers, &Event::Notice(notice));
    }
    let result = run.execute_with(&mut |event| emit(&mut readers, &event), signal).await.map_err(|why| {
        Failure::of(&why, "choose another address with --service-listen, or stop the program that uses it")
    })?;
    let code = finish(readers, result.exit_code);
    last_run::keep(&result, project);
    if was_interrupted {
        // Half a run observes too few points for a record, and has too few failures for a baseline.
        return Ok(code);
    }
    let recorded = record.map(|path| Pins::record(&path, &result.observations, spec.profile()));
    let written = baseline.map(|baseline| baseline.write(&result));
    if let Some(Ok(note)) = &written {
        // Standard output may be a report.
        let _ = writeln!(stderr().lock(), "{note}");
    }
    let failures = recorded.and_then(Result::err).map(Failure::from).into_iter();
    let failures = failures.chain(written.and_then(Result::err));
    // A missing file turns success into an error, as a missing report does.
    Ok(failures.map(|failure| failure.print()).fold(code, |code, error| if code == 0 { error } else { code }))
}
