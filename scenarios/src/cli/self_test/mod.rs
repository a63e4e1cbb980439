//! The command `edgeproof-load self-test`: runs this program against servers that record the truth.

mod check;
mod checks;
mod comparison;
mod expected_report;
mod parts;
mod placement;
mod processes;
mod situation;
mod starvation;
mod table;

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use edgeproof_cli::exit_code::{BROKEN, INCOMPLETE, USAGE};
use edgeproof_cli::{Failure, runtime, signals, write_stdout};
use parking_lot::Mutex;

use super::args::{SelfTest, SelfTestPart};
use check::{Check, CheckResult};
use processes::Processes;

/// Checks at low rates that run at a time.
const PARALLEL: usize = 4;
/// Further attempts at a check that this machine was too busy for start within this time.
const RETRYING: Duration = Duration::from_secs(45);

/// The checks of a call. Each group runs in order.
struct Groups {
    /// Several at a time.
    behaviours: Vec<Check>,
    rates: Vec<Check>,
    starved: Vec<Check>,
}

/// The command `edgeproof-load self-test`. Exit code 0: no figure is wrong; 1: a figure is wrong; 3: this machine
/// is too busy for every check.
pub(super) fn main(args: &SelfTest) -> Result<u8, Failure> {
    match &args.part {
        Some(SelfTestPart::Serve { behaviour }) => return parts::serve(behaviour),
        Some(SelfTestPart::Busy) => return parts::busy(),
        Some(SelfTestPart::Confined(confined)) => return placement::confined(confined),
        None => {}
    }
    let groups = Groups::new(args)?;
    if args.list {
        write_stdout(table::list(&groups.all()).as_bytes())?;
        return Ok(0);
    }
    let processes = Processes::new().map_err(|why| {
        Failure::usage(format!("cannot find this program: {why}"), "start it by its path").incomplete()
    })?;
    let processes = Arc::new(processes);
    let runtime = runtime()?;
    runtime.block_on(async {
        let interrupted = signals::catch()?;
        let running = Arc::clone(&processes);
        let mut checks = tokio::task::spawn_blocking(move || run(&groups, &running));
        tokio::select! {
            code = &mut checks => code.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic())),
            signal = interrupted => {
                processes.stop();
                // Without processes, the checks end at once. Their results mean nothing.
                let _ = checks.await;
                Ok(signal.exit_code())
            }
        }
    })
}

impl Groups {
    fn new(args: &SelfTest) -> Result<Self, Failure> {
        if let Some(rate) = args.rates.iter().find(|rate| rate.value() <= 0.0) {
            return Err(Failure::usage(format!("cannot run at {rate}"), "give rates above 0"));
        }
        let chosen = |checks: Vec<Check>| {
            let named = |check: &Check| {
                args.filter.is_empty() || args.filter.iter().any(|text| check.name.contains(text))
            };
            checks.into_iter().filter(named).collect::<Vec<_>>()
        };
        let groups = Self {
            behaviours: chosen(checks::behaviours()),
            rates: chosen(checks::rates(&args.rates, args.duration)),
            starved: chosen(checks::starved(args.duration)),
        };
        if groups.all().is_empty() {
            let what = format!("no check has {} in its name", args.filter.join(" or "));
            return Err(Failure::usage(what, "list the checks with --list"));
        }
        Ok(groups)
    }

    fn all(&self) -> Vec<&Check> {
        self.behaviours.iter().chain(&self.rates).chain(&self.starved).collect()
    }
}

/// Runs the checks, prints their results and returns the exit code.
fn run(groups: &Groups, processes: &Processes) -> Result<u8, Failure> {
    let began = Instant::now();
    write_stdout(table::head().as_bytes())?;
    let results = Mutex::new(Vec::new());
    for (checks, parallel) in [(&groups.behaviours, PARALLEL), (&groups.rates, 1), (&groups.starved, 1)] {
        let waiting: Mutex<VecDeque<&Check>> = Mutex::new(checks.iter().collect());
        thread::scope(|scope| {
            for _ in 0..parallel {
                scope.spawn(|| {
                    while let Some(check) = take(&waiting) {
                        let mut outcome = check.run(processes);
                        if processes.are_stopped() {
                            return;
                        }
                        let fails = outcome.result == CheckResult::Failed;
                        // A pause of the machine can contradict a record once; a wrong generator does so again.
                        if fails || outcome.result == CheckResult::NotShown && began.elapsed() < RETRYING {
                            let first = std::mem::replace(&mut outcome, check.run(processes));
                            outcome.notes.extend(
                                first
                                    .notes
                                    .into_iter()
                                    .filter(|_| fails)
                                    .map(|why| format!("the first time: {why}")),
                            );
                        }
                        // The result counts even if nobody reads its row.
                        let _ = write_stdout(table::row(check, &outcome).as_bytes());
                        results.lock().push((check, outcome.result));
                    }
                });
            }
        });
    }
    let results = results.into_inner();
    write_stdout(format!("{}\n", table::summary(&results)).as_bytes())?;
    let shown = |check: &&(&Check, CheckResult)| check.1 == CheckResult::Shown;
    Ok(match results.iter().map(|(_, result)| *result).max() {
        None => USAGE,
        Some(CheckResult::Failed) => BROKEN,
        Some(_) if results.iter().any(|result| shown(&result)) => 0,
        Some(_) => INCOMPLETE,
    })
}

fn take<'a>(waiting: &Mutex<VecDeque<&'a Check>>) -> Option<&'a Check> {
    waiting.lock().pop_front()
}
