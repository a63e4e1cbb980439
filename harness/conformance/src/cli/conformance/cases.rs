use edgeproof_cli::Failure;
use edgeproof_reports::{Outcome, Report};

use super::args::ConformanceArgs;
use crate::nearest::{nearest_ids, similar_text};
use crate::run::{CasePlan, Selection};

/// Cases that the options select.
pub(super) fn selection(args: &ConformanceArgs) -> Result<Selection, Failure> {
    let mut selection = Selection { filter: args.filter.clone(), exclude: args.exclude.clone(), only: None };
    let Some(path) = &args.rerun_failed else { return Ok(selection) };
    let report = Report::load(path)
        .map_err(|why| Failure::of(&why, "--rerun-failed takes the JSON report of an earlier run"))?;
    let failed = |outcome: Outcome| matches!(outcome, Outcome::Fail | Outcome::NotRun);
    let cases = report.cases.into_iter().filter(|case| failed(case.outcome));
    let ids: Vec<_> = cases.map(|case| case.id).collect();
    if ids.is_empty() {
        return Err(Failure::usage(
            format!("cannot rerun the failed cases of {}: no case failed", path.display()),
            "omit --rerun-failed to run all cases",
        ));
    }
    selection.only = Some(ids);
    Ok(selection)
}

/// Checks that the held case will run.
pub(super) fn check_hold(hold: Option<&str>, plan: &CasePlan) -> Result<(), Failure> {
    let Some(id) = hold else { return Ok(()) };
    if plan.cases.iter().any(|planned| planned.case.id == id && planned.unmet.is_empty()) {
        return Ok(());
    }
    let runs = plan.cases.iter().filter(|planned| planned.unmet.is_empty());
    let similar = nearest_ids(id, runs.map(|planned| planned.case.id.as_str()));
    Err(Failure::usage(
        format!("cannot stop before {id:?}: no case with this id runs{}", similar_text(&similar)),
        "give one exact id; --list lists the ids",
    ))
}
