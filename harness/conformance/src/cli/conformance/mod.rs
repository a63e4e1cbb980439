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
use std::sync::Arc;
use std::time::Duration;

use edgeproof_cli::{Failure, runtime, signals, write_stdout};
use edgeproof_reports::Event;

use crate::run::Pins;
use output::{emit, finish};
use plan::{PlannedCommand, PlannedRun, plan};

/// Longest wait for background work at the end of a run.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// `edgeproof conformance`.
pub(super) fn main(args: &ConformanceArgs) -> Result<u8, Failure> {
    let runtime = runtime()?;
    // Before the plan writes credentials to files: a killed process would leave them behind.
    let interrupted = {
        let _context = runtime.enter();
        signals::catch()?
    };
    match plan(args, &runtime)? {
        PlannedCommand::List(plan) => write_stdout(plan.to_string().as_bytes()).map(|()| 0),
        PlannedCommand::Run(run) => {
            let code = runtime.block_on(execute(*run, interrupted));
            runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
            code
        }
    }
}

async fn execute(
    planned: PlannedRun,
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
    last_run::keep(&result);
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
