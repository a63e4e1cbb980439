use edgeproof_cli::Failure;
use edgeproof_fixtures::spec::{PartName, Spec};
use edgeproof_reports::ReleaseVersion;

use super::args::ConformanceArgs;
use crate::cases::Releases;
use crate::cli::other_id::other_id;
use crate::nearest::{nearest_ids, similar_text};
use crate::run::{CasePlan, Selection};

/// Refuses ids of rows and causes where cases are selected.
pub(super) fn check_ids(args: &ConformanceArgs, spec: &Spec, part: PartName) -> Result<(), Failure> {
    let options = args.filter.iter().map(|glob| ("--filter", glob));
    let mut options = options.chain(args.exclude.iter().map(|glob| ("--exclude", glob)));
    let failure = |(option, id): (&str, &String)| {
        other_id(spec, id, part.name(), &format!("cannot apply {option} {id:?}"))
    };
    options.find_map(failure).map_or(Ok(()), Err)
}

/// Cases that the options select. `only`: the cases that are played again.
pub(super) fn selection(args: &ConformanceArgs, only: Option<Vec<String>>) -> Result<Selection, Failure> {
    Ok(Selection {
        filter: args.filter.clone(),
        exclude: args.exclude.clone(),
        only,
        cases_of: args.cases_of.as_deref().map(version).transpose()?,
    })
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
