//! Gate of the current version: each mutant is killed, and each case kills one, with fewer case runs than all.

use std::collections::HashMap;

use edgeproof::cases::CaseFacts;
use edgeproof_fixtures::spec::{PartName, Spec};
use edgeproof_reports::matrix::{MatrixMutant, MutantStatus, Scope};

use super::MatrixOptions;
use super::judge::{self, empty_matrix};
use super::mutant_run::{self, is_concerned};
use super::result::{CaseResults, MutantResult};
use super::runs::run_all;
use super::sample;
use crate::mutant::Mutant;
use crate::play::{TestBed, TestBedError};

/// Most cases of its row that a mutant plays over sockets at first.
const FEW: usize = 12;

/// Results of mutants that play a few cases of their row each, the mutants of a row in turn other ones. A mutant that survives
/// these plays them all, and a case that killed none plays further mutants of its row.
pub(super) async fn few_results(
    bed: &TestBed,
    options: &MatrixOptions,
    mutants: &[Mutant],
    cases: &[(PartName, CaseFacts)],
    reference: &CaseResults,
) -> Result<Vec<MutantResult>, TestBedError> {
    let facts: Vec<CaseFacts> = cases.iter().map(|(_, case)| case.clone()).collect();
    let judge = |mutant: &Mutant, result: &MutantResult| judge::mutant(mutant, result, &facts, reference);
    let turns = &turns(mutants);
    let judge = &judge;
    let run = |at: usize| async move {
        let mutant = &mutants[at];
        let chosen = few(bed, mutant, turns[at], cases);
        let result = mutant_run::run(bed, mutant, &chosen, None).await?;
        if chosen.len() == cases.len() || judge(mutant, &result).status != MutantStatus::Survived {
            return Ok(result);
        }
        mutant_run::run(bed, mutant, cases, None).await
    };
    let mut results = run_all(mutants.len(), options.jobs, options.progress, run).await?;

    let played: Vec<MatrixMutant> =
        mutants.iter().zip(&results).map(|(mutant, result)| judge(mutant, result)).collect();
    let open = sample::without_kill(&empty_matrix(&bed.spec, Scope::Gate, &facts).cases, &played);
    for (at, sampled) in sample::play(bed, options.jobs, mutants, cases, open).await? {
        let MutantResult { cases, despite_finding, .. } = &mut results[at];
        // A run that ends with a finding says nothing about its cases.
        if despite_finding.is_empty() { cases } else { despite_finding }.extend(sampled.cases);
    }
    Ok(results)
}

/// How many mutants of the same row stand before each one.
pub(crate) fn turns(mutants: &[Mutant]) -> Vec<usize> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let turn = |mutant| {
        let count = seen.entry(mutant).or_default();
        *count += 1;
        *count - 1
    };
    mutants.iter().map(|mutant| mutant.row.as_str()).map(turn).collect()
}

/// The cases without those of the mutant's row that are not its turn. All where its advice is judged: the first one of a
/// whole row.
fn few(
    bed: &TestBed,
    mutant: &Mutant,
    turn: usize,
    cases: &[(PartName, CaseFacts)],
) -> Vec<(PartName, CaseFacts)> {
    if has_advice(&bed.spec, mutant) {
        return cases.to_vec();
    }
    let takes_turns = |(part, case): &(PartName, CaseFacts)| {
        is_concerned(case, mutant) && !sample::is_monitor(case) && !bed.plays_pure(*part, case)
    };
    in_turn(cases, takes_turns, FEW, turn)
}

/// Whether an advice of the tables names this mutant, so that all its failures are judged.
pub(crate) fn has_advice(spec: &Spec, mutant: &Mutant) -> bool {
    spec.advice().iter().any(|advice| advice.mutants.contains(&mutant.id))
}

/// The items without most of those that take turns: at most `few` of these are left.
pub(crate) fn in_turn<T: Clone>(
    items: &[T],
    takes_turns: impl Fn(&T) -> bool,
    few: usize,
    turn: usize,
) -> Vec<T> {
    let step = items.iter().filter(|item| takes_turns(item)).count().div_ceil(few).max(1);
    let mut at = 0;
    let is_chosen = |item: &&T| {
        if !takes_turns(item) {
            return true;
        }
        at += 1;
        at % step == turn % step
    };
    items.iter().filter(is_chosen).cloned().collect()
}
