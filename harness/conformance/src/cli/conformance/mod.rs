//! `edgeproof conformance`: arguments → validated plan → run.

mod args;
mod cases;
mod collector;
mod misplaced;
mod output;
mod part;
mod plan;
mod rerun;
mod sequences;
mod service;

pub(crate) use args::ConformanceArgs;

use std::fmt::Write as _;
use std::time::Duration;

use edgeproof_cli::{Failure, runtime, signals, write_stdout};

use crate::run::{CasePlan, Pins};
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
    match plan(args)? {
        PlannedCommand::List(cases) => write_stdout(list(&cases).as_bytes()).map(|()| 0),
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
    let mut was_interrupted = false;
    let signal = async {
        let signal = interrupted.await;
        was_interrupted = true;
        signal.exit_code()
    };
    let result = run.execute_with(&mut |event| emit(&mut readers, &event), signal).await.map_err(|why| {
        Failure::of(&why, "choose another address with --service-listen, or stop the program that uses it")
    })?;
    // Half a run observes too few points for a record.
    if let (Some(path), false) = (record, was_interrupted) {
        Pins::record(&path, &result.observations)?;
    }
    Ok(finish(readers, result.exit_code))
}

/// Lists the cases, one a line.
fn list(plan: &CasePlan) -> String {
    let width = plan.cases.iter().map(|planned| planned.case.id.len()).max().unwrap_or(0);
    let mut text = String::new();
    for planned in &plan.cases {
        let because = planned.not_applicable();
        let note = because.map_or(String::new(), |because| format!("  [not applicable: {because}]"));
        let case = &planned.case;
        _ = writeln!(text, "{:width$}  {:6}  {}{note}", case.id, case.level.name(), case.title);
    }
    text
}
