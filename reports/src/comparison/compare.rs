use std::collections::{BTreeSet, HashMap};

use super::case_change::CaseChange;
use super::error::ComparisonError;
use super::model::{ChangedObservation, ComparedCase, ComparedRun, ComparisonSummary, RunComparison, SCHEMA};
use crate::model::{CaseReport, Outcome, ReleaseVersion, Report, by_point};

impl RunComparison {
    /// Compares two runs, each with the name of its report. `removed`: why edgeproof no longer has a case, if it had it.
    pub fn new(
        (old_name, old): (&str, &Report),
        (new_name, new): (&str, &Report),
        removed: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ComparisonError> {
        let names = || (old_name.to_owned(), new_name.to_owned());
        if !old.spec.is_comparable(&new.spec) {
            let ((old_name, new_name), [old_spec, new_spec]) =
                (names(), [old, new].map(|run| run.spec.short()));
            return Err(ComparisonError::OtherInterface { old: old_name, new: new_name, old_spec, new_spec });
        }
        let before = by_id(old);
        if !new.cases.iter().any(|case| before.contains_key(case.id.as_str())) {
            let (old, new) = names();
            return Err(ComparisonError::NothingInCommon { old, new });
        }
        let (after, causes) = (by_id(new), causes(new));
        let mut cases = Vec::new();
        for case in &new.cases {
            let was = before.get(case.id.as_str()).copied();
            let change = match was {
                Some(was) => changed(was.outcome, case.outcome),
                None => added(old, new, case),
            };
            let Some(change) = change else { continue };
            cases.push(ComparedCase {
                change,
                old: was.map(|was| was.outcome),
                new: Some(case.outcome),
                because: case.because.clone(),
                cause: causes.get(case.id.as_str()).map(|cause| (*cause).to_owned()),
                ..unchanged(case)
            });
        }
        for case in old.cases.iter().filter(|case| !after.contains_key(case.id.as_str())) {
            let (change, because) = match removed(&case.id) {
                Some(why) => (CaseChange::RemovedCheck, why),
                None if ran(case.outcome) => (CaseChange::LostResult, format!("it is not in {new_name}")),
                None => continue,
            };
            cases.push(ComparedCase { change, old: Some(case.outcome), because, ..unchanged(case) });
        }
        cases.sort_by_key(|case| (case.change, severity(case.new)));
        let observations = observations(old, new);
        let mut summary =
            ComparisonSummary { changed_observation: observations.len(), ..ComparisonSummary::default() };
        for case in &cases {
            summary.count(case.change, case.new);
        }
        Ok(Self {
            schema: SCHEMA.to_owned(),
            spec: new.spec.clone(),
            old_spec: (old.spec.digest != new.spec.digest).then(|| old.spec.clone()),
            old: ComparedRun::of(old_name, old),
            new: ComparedRun::of(new_name, new),
            summary,
            cases,
            observations,
        })
    }
}

impl ComparedRun {
    fn of(name: &str, run: &Report) -> Self {
        Self {
            report: name.to_owned(),
            tool: run.tool.clone(),
            target: run.target.clone(),
            started: run.started.clone(),
            exit_code: run.exit_code,
            planned: run.cases.len(),
        }
    }
}

/// What happened to a case that is in both reports.
fn changed(old: Outcome, new: Outcome) -> Option<CaseChange> {
    let is_broken = |outcome| matches!(outcome, Outcome::Fail | Outcome::Known);
    match (old, new) {
        (old, new) if ran(old) != ran(new) => {
            Some(if ran(new) { CaseChange::FirstResult } else { CaseChange::LostResult })
        }
        (old, _) if !ran(old) => None,
        (old, new) if is_broken(old) && is_broken(new) => Some(CaseChange::StillBroken),
        (_, Outcome::Fail) => Some(CaseChange::NewlyBroken),
        (_, Outcome::Known) => Some(CaseChange::NewlyKnown),
        (old, _) if is_broken(old) => Some(CaseChange::NewlyFixed),
        (Outcome::Warn, Outcome::Warn) => None,
        (Outcome::Warn, _) => Some(CaseChange::NewlyFixed),
        (_, Outcome::Warn) => Some(CaseChange::NewlyWarned),
        _ => None,
    }
}

/// Why a case is in the new report only, unless it has no result there either.
fn added(old: &Report, new: &Report, case: &CaseReport) -> Option<CaseChange> {
    let version = |run: &Report| run.tool.version.parse::<ReleaseVersion>().ok();
    let is_newer = match case.since {
        Some(since) => version(old).is_none_or(|old| since > old),
        // In a report with versions, such a case is one of the user's own.
        None if new.cases.iter().any(|case| case.since.is_some()) => false,
        None => version(new) > version(old),
    };
    if is_newer {
        return Some(CaseChange::NewCheck);
    }
    ran(case.outcome).then_some(CaseChange::FirstResult)
}

/// Whether the target was judged or observed.
fn ran(outcome: Outcome) -> bool {
    !matches!(outcome, Outcome::NotRun | Outcome::NotApplicable)
}

/// What needs attention goes first.
fn severity(outcome: Option<Outcome>) -> u8 {
    match outcome {
        Some(Outcome::Fail) => 0,
        Some(Outcome::Warn) => 1,
        Some(Outcome::Known) => 2,
        Some(Outcome::NotRun) => 3,
        _ => 4,
    }
}

fn by_id(run: &Report) -> HashMap<&str, &CaseReport> {
    run.cases.iter().map(|case| (case.id.as_str(), case)).collect()
}

/// The first cause of each case.
fn causes(run: &Report) -> HashMap<&str, &str> {
    let mut causes = HashMap::new();
    for cause in run.causes.iter().filter(|cause| !cause.explanation.is_empty()) {
        for case in &cause.cases {
            causes.entry(case.as_str()).or_insert(cause.id.as_str());
        }
    }
    causes
}

/// The case itself, without its results.
fn unchanged(case: &CaseReport) -> ComparedCase {
    ComparedCase {
        id: case.id.clone(),
        title: case.title.clone(),
        level: case.level,
        rows: case.rows.clone(),
        change: CaseChange::StillBroken,
        since: case.since,
        old: None,
        new: None,
        because: String::new(),
        cause: None,
    }
}

/// The points that both runs observed, with another result.
fn observations(old: &Report, new: &Report) -> Vec<ChangedObservation> {
    let (before, after) = (by_point(&old.observations), by_point(&new.observations));
    let both = after.iter().filter_map(|(point, new)| Some((point, before.get(point)?, new)));
    let texts = |seen: &BTreeSet<&str>| seen.iter().map(|text| (*text).to_owned()).collect();
    both.filter(|(_, old, new)| old != new)
        .map(|(point, old, new)| ChangedObservation {
            point: (*point).to_owned(),
            old: texts(old),
            new: texts(new),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::broken(Outcome::Pass, Outcome::Fail, Some(CaseChange::NewlyBroken))]
    #[case::worse(Outcome::Warn, Outcome::Fail, Some(CaseChange::NewlyBroken))]
    #[case::warned(Outcome::Pass, Outcome::Warn, Some(CaseChange::NewlyWarned))]
    #[case::accepted(Outcome::Pass, Outcome::Known, Some(CaseChange::NewlyKnown))]
    #[case::fixed(Outcome::Fail, Outcome::Pass, Some(CaseChange::NewlyFixed))]
    #[case::better(Outcome::Fail, Outcome::Warn, Some(CaseChange::NewlyFixed))]
    #[case::known_fixed(Outcome::Known, Outcome::Pass, Some(CaseChange::NewlyFixed))]
    #[case::warning_fixed(Outcome::Warn, Outcome::Pass, Some(CaseChange::NewlyFixed))]
    #[case::no_longer_in_the_baseline(Outcome::Known, Outcome::Fail, Some(CaseChange::StillBroken))]
    #[case::still(Outcome::Fail, Outcome::Fail, Some(CaseChange::StillBroken))]
    #[case::first(Outcome::NotRun, Outcome::Fail, Some(CaseChange::FirstResult))]
    #[case::applies_now(Outcome::NotApplicable, Outcome::Pass, Some(CaseChange::FirstResult))]
    #[case::lost(Outcome::Pass, Outcome::NotRun, Some(CaseChange::LostResult))]
    #[case::failure_lost(Outcome::Fail, Outcome::NotApplicable, Some(CaseChange::LostResult))]
    #[case::never(Outcome::NotRun, Outcome::NotApplicable, None)]
    #[case::passes(Outcome::Pass, Outcome::Pass, None)]
    #[case::warns(Outcome::Warn, Outcome::Warn, None)]
    #[case::observed(Outcome::Observed, Outcome::Observed, None)]
    fn change_of_a_case_follows_its_outcomes(
        #[case] old: Outcome,
        #[case] new: Outcome,
        #[case] expected: Option<CaseChange>,
    ) {
        assert_eq!(changed(old, new), expected);
    }
}
