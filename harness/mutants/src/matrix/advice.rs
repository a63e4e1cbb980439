use std::collections::BTreeMap;

use edgeproof::cases::CaseFacts;
use edgeproof_fixtures::spec::{KnownAdvice, Spec};
use edgeproof_reports::{CaseLevel, Outcome};

use super::mutant_run;
use super::result::{CaseResult, MutantResult};
use super::runs::{all_cases, run_all};
use crate::mutant::Mutant;
use crate::mutant_set::MutantSet;
use crate::play::{TestBed, TestBedError};

/// Problems of the table of advice: an entry names a mutant of another cause, or one whose run prints another advice
/// first. `is_played`: whether the mutants of this id are among those that ran.
pub(crate) fn problems(
    spec: &Spec,
    ran: &[(&Mutant, &MutantResult)],
    cases: &[CaseFacts],
    is_played: impl Fn(&str) -> bool,
) -> Vec<String> {
    let ran: BTreeMap<&str, (&Mutant, &MutantResult)> =
        ran.iter().map(|(mutant, result)| (mutant.id.as_str(), (*mutant, *result))).collect();
    let of_entry = |entry: &KnownAdvice| -> Vec<String> {
        let named = entry.mutants.iter().filter(|id| is_played(id));
        named.filter_map(|id| problem(entry, id, ran.get(id.as_str()).copied(), cases)).collect()
    };
    spec.advice().iter().flat_map(of_entry).collect()
}

/// Plays the mutants of every n-th advice. Yields the problems, and the number of the mutants.
pub async fn sample_advice(
    bed: &TestBed,
    every: usize,
    jobs: usize,
) -> Result<(Vec<String>, usize), TestBedError> {
    let all = MutantSet::new(&bed.spec).mutants;
    let known = |id: &&String| all.iter().any(|mutant| mutant.id == **id);
    let entries = bed.spec.advice().iter().step_by(every);
    let chosen: Vec<&String> = entries.flat_map(|entry| &entry.mutants).filter(known).collect();
    let mutants: Vec<Mutant> = all.iter().filter(|mutant| chosen.contains(&&mutant.id)).cloned().collect();
    let cases = all_cases(bed);
    let facts: Vec<CaseFacts> = cases.iter().map(|(_, case)| case.clone()).collect();
    let is_chosen = |id: &str| chosen.iter().any(|chosen| *chosen == id);
    let mut found = Vec::new();
    // Mutants that depend on time can fail otherwise beside others: what was found counts if it is so without them.
    for jobs in [jobs, 1] {
        let results =
            run_all(mutants.len(), jobs, |_, _| (), |at| mutant_run::run(bed, &mutants[at], &cases, None))
                .await?;
        let ran: Vec<_> = mutants.iter().zip(&results).collect();
        found = problems(&bed.spec, &ran, &facts, is_chosen);
        if found.is_empty() {
            break;
        }
    }
    Ok((found, mutants.len()))
}

fn problem(
    entry: &KnownAdvice,
    mutant: &str,
    ran: Option<(&Mutant, &MutantResult)>,
    cases: &[CaseFacts],
) -> Option<String> {
    let advice = &entry.id;
    let Some((mutant, result)) = ran else {
        return Some(format!("advice {advice}: there is no mutant {mutant}"));
    };
    let id = &mutant.id;
    if let Some(cause) = entry.cause.as_ref().filter(|cause| **cause != mutant.cause) {
        return Some(format!("advice {advice} belongs to {cause}, its mutant {id} to {}", mutant.cause));
    }
    let own = |case: &&CaseFacts| match &entry.case {
        Some(id) => case.id == *id,
        None => case.rows.contains(&mutant.row),
    };
    let first = first_advice(result, cases.iter().filter(own));
    (first != Some(advice))
        .then(|| format!("advice {advice}: a run of {id} prints {} first", first.unwrap_or("no advice")))
}

/// Id of the advice that a run of these cases prints first: failed cases before warnings, and the heaviest mismatch of a
/// case before the others.
fn first_advice<'r, 'c>(
    result: &'r MutantResult,
    cases: impl Iterator<Item = &'c CaseFacts>,
) -> Option<&'r str> {
    let results = if result.despite_finding.is_empty() { &result.cases } else { &result.despite_finding };
    let played: Vec<&CaseResult> = cases.filter_map(|case| results.get(&case.id)).collect();
    let of_outcome = |outcome| played.iter().filter(move |played| played.outcome == outcome);
    let printed = of_outcome(Outcome::Fail).chain(of_outcome(Outcome::Warn)).flat_map(|case| {
        let judged = case.mismatches.iter().filter(|mismatch| mismatch.level != CaseLevel::Open);
        let mut judged: Vec<_> = judged.collect();
        judged.sort_by_key(|mismatch| mismatch.level);
        judged
    });
    printed.flat_map(|mismatch| &mismatch.advice).map(|note| note.id.as_str()).next()
}
