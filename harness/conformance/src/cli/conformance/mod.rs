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

use edgeproof_cli::{Failure, runtime, signals, write_stdout};

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
