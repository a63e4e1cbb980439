//! The command `edgeproof-load self-test`: runs this program against servers that record the truth.

mod check;
mod checks;
mod comparison;
mod placement;
mod situation;

use std::cell::RefCell;
use std::time::{Duration, Instant};

use edgeproof_cli::exit_code::{BROKEN, INCOMPLETE, USAGE};
use edgeproof_cli::{Failure, signals, single_threaded_runtime, write_stdout};

use super::args::{SelfTest, SelfTestPart};
use check::{Check, CheckResult};
pub(super) use placement::Confined;

/// Further attempts at a check that this machine was too busy for start within this time.
const RETRYING: Duration = Duration::from_secs(45);

/// The command `edgeproof-load self-test`. Exit code 0: no figure is wrong; 1: a figure is wrong; 3: this machine
/// is too busy for every check.
pub(super) fn main(args: &SelfTest) -> Result<u8, Failure> {
    match &args.part {
        Some(SelfTestPart::Serve { behaviour }) => return situation::serve(behaviour),
        Some(SelfTestPart::Busy) => return situation::busy(),
        Some(SelfTestPart::Confined(confined)) => return placement::confined(confined),
        None => {}
    }
    let groups = groups(args)?;
    if args.list {
        write_stdout(comparison::list(groups.iter().flatten()).as_bytes())?;
        return Ok(0);
    }
    // A process is killed when the thread that started it ends, so one thread starts all of them.
    single_threaded_runtime()?.block_on(async {
        let interrupted = signals::catch()?;
        tokio::select! {
            code = run(&groups) => code,
            // The dropped checks kill their processes.
            signal = interrupted => Ok(signal.exit_code()),
        }
    })
}

/// The checks of a call: at low rates, of the rates, and of a starved generator.
fn groups(args: &SelfTest) -> Result<[Vec<Check>; 3], Failure> {
    if let Some(rate) = args.rates.iter().find(|rate| rate.value() <= 0.0) {
        return Err(Failure::usage(format!("cannot run at {rate}"), "give rates above 0"));
    }
    let mut groups =
        [checks::behaviours(), checks::rates(&args.rates, args.duration), checks::starved(args.duration)];
    if !args.filter.is_empty() {
        let is_named = |check: &Check| args.filter.iter().any(|text| check.name.contains(text));
        for checks in &mut groups {
            checks.retain(is_named);
        }
    }
    if groups.iter().all(Vec::is_empty) {
        let what = format!("no check has {} in its name", args.filter.join(" or "));
        return Err(Failure::usage(what, "list the checks with --list"));
    }
    Ok(groups)
}

/// Runs the checks, prints their results and returns the exit code.
async fn run(groups: &[Vec<Check>; 3]) -> Result<u8, Failure> {
    let began = Instant::now();
    write_stdout(comparison::head().as_bytes())?;
    let results = RefCell::new(Vec::new());
    for (place, checks) in groups.iter().enumerate() {
        let waiting = RefCell::new(checks.iter());
        let run_each = async || {
            loop {
                let Some(check) = waiting.borrow_mut().next() else { break };
                let mut outcome = check.run().await;
                let fails = outcome.result == CheckResult::Failed;
                // A pause of the machine can contradict a record once; a wrong generator does so again.
                if fails || outcome.result == CheckResult::NotShown && began.elapsed() < RETRYING {
                    let first = std::mem::replace(&mut outcome, check.run().await);
                    let notes = first.notes.into_iter().filter(|_| fails);
                    outcome.notes.extend(notes.map(|why| format!("the first time: {why}")));
                }
                // The result counts even if nobody reads its row.
                let _ = write_stdout(comparison::row(check, &outcome).as_bytes());
                results.borrow_mut().push((check, outcome.result));
            }
        };
        // Checks at low rates run at the same time. The others need the machine for themselves.
        if place == 0 {
            tokio::join!(run_each(), run_each(), run_each(), run_each());
        } else {
            run_each().await;
        }
    }
    let results = results.into_inner();
    write_stdout(format!("{}\n", comparison::summary(&results)).as_bytes())?;
    Ok(match results.iter().map(|(_, result)| *result).max() {
        None => USAGE,
        Some(CheckResult::Failed) => BROKEN,
        Some(_) if results.iter().any(|(_, result)| *result == CheckResult::Shown) => 0,
        Some(_) => INCOMPLETE,
    })
}
