use edgeproof_cli::Failure;
use edgeproof_reports::{EarlierRun, Outcome, ReleaseVersion, Report};

use super::args::ConformanceArgs;
use crate::cases::Releases;
use crate::nearest::{nearest_ids, similar_text};
use crate::run::{CasePlan, Selection};

/// The run of `--rerun-failed`.
pub(super) fn earlier_run(args: &ConformanceArgs) -> Result<Option<EarlierRun>, Failure> {
    let Some(path) = &args.rerun_failed else { return Ok(None) };
    let report = Report::load(path)
        .map_err(|why| Failure::of(&why, "--rerun-failed takes the JSON report of an earlier run"))?;
    Ok(Some(EarlierRun { name: path.display().to_string(), report }))
}

/// Cases that the options select. `earlier`: the run whose failed cases run again.
pub(super) fn selection(args: &ConformanceArgs, earlier: Option<&EarlierRun>) -> Result<Selection, Failure> {
    let mut selection = Selection {
        filter: args.filter.clone(),
        exclude: args.exclude.clone(),
        only: None,
        cases_of: args.cases_of.as_deref().map(version).transpose()?,
    };
    let Some(EarlierRun { name, report }) = earlier else { return Ok(selection) };
    let failed = |outcome: Outcome| matches!(outcome, Outcome::Fail | Outcome::NotRun);
    let cases = report.cases.iter().filter(|case| failed(case.outcome));
    let ids: Vec<_> = cases.map(|case| case.id.clone()).collect();
    if ids.is_empty() {
        return Err(Failure::usage(
            format!("cannot rerun the failed cases of {name}: no case failed"),
            "omit --rerun-failed to run all cases",
        ));
    }
    selection.only = Some(ids);
    Ok(selection)
}

/// The version of `--cases-of`.
fn version(text: &str) -> Result<ReleaseVersion, Failure> {
    let versions = Releases::builtin().versions();
    if let Some(version) = text.parse().ok().filter(|version| versions.contains(version)) {
        return Ok(version);
    }
    let known: Vec<String> = versions.iter().map(ToString::to_string).collect();
    Err(Failure::usage(
        format!("cannot select the cases of edgeproof {text}: this build does not know this version"),
        format!("known: {}; omit --cases-of to run all cases", known.join(", ")),
    ))
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
