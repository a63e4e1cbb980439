use edgeproof_cli::Failure;
use edgeproof_reports::{EarlierRun, Outcome, Report, counted};

use super::args::ConformanceArgs;
use super::last_run::{self, LAST_RUN};

/// What `--rerun-failed` and `--failed` play again.
#[derive(Debug, Default)]
pub(super) struct Again {
    /// Ids of the cases that did not pass. None: all cases are played.
    pub(super) only: Option<Vec<String>>,
    /// The earlier run, to compare with.
    pub(super) earlier: Option<EarlierRun>,
    /// What the user is told.
    pub(super) notice: Option<String>,
}

impl Again {
    /// Reads the earlier run.
    pub(super) fn of(args: &ConformanceArgs) -> Result<Self, Failure> {
        if let Some(path) = &args.rerun_failed {
            let report = Report::load(path)
                .map_err(|why| Failure::of(&why, "--rerun-failed takes the JSON report of an earlier run"))?;
            let name = path.display().to_string();
            let only = not_passed(&report, args.strict);
            if only.is_empty() {
                return Err(Failure::usage(
                    format!("cannot rerun the failed cases of {name}: no case failed"),
                    "omit --rerun-failed to run all cases",
                ));
            }
            return Ok(Self { only: Some(only), earlier: Some(EarlierRun { name, report }), notice: None });
        }
        if args.failed { Ok(Self::after(last_run::read()?, args.strict)) } else { Ok(Self::default()) }
    }

    /// After the last run, or without one.
    fn after(last: Option<Report>, strict: bool) -> Self {
        let all = |why: String| Self { notice: Some(format!("--failed: {why}: all cases run")), ..Self::default() };
        let Some(report) = last else { return all("no run in this folder is known".to_owned()) };
        let only = not_passed(&report, strict);
        let run = format!("the last run ({}, {})", report.started, report.target);
        if only.is_empty() {
            return all(format!("nothing failed in {run}"));
        }
        let notice = format!("--failed: {} did not pass in {run}", counted(only.len(), "case"));
        let earlier = EarlierRun { name: LAST_RUN.to_owned(), report };
        Self { only: Some(only), earlier: Some(earlier), notice: Some(notice) }
    }
}

/// The cases that failed or could not run, and with `--strict` those that warned.
fn not_passed(report: &Report, strict: bool) -> Vec<String> {
    let is_open = |outcome: Outcome| match outcome {
        Outcome::Fail | Outcome::NotRun => true,
        Outcome::Warn => strict,
        Outcome::Pass | Outcome::Known | Outcome::Observed | Outcome::NotApplicable => false,
    };
    report.cases.iter().filter(|case| is_open(case.outcome)).map(|case| case.id.clone()).collect()
}
