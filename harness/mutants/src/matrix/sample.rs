use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use edgeproof::cases::Case;
use edgeproof::causes::Fingerprints;
use edgeproof_reports::matrix::{Matrix, MutantStatus, Scope};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::cover::cover;
use super::{MutantResult, all_cases, empty_matrix, is_concerned, judge, mutant_run, reference_results};
use crate::mutant::Mutant;
use crate::mutant_set::MutantSet;
use crate::play::{TestBed, TestBedError};

/// A kill matrix of some mutants, in which each case that can kill a mutant kills one.
#[derive(Debug)]
pub struct SampleMatrix {
    /// The matrix of the mutants in the sample. A mutant runs against the cases that it has to kill.
    pub matrix: Matrix,
    /// Number of all mutants.
    pub all: usize,
}

impl SampleMatrix {
    /// The sample in one line.
    pub fn line(&self) -> String {
        let Self { matrix, all } = self;
        let (mutants, plays) = (matrix.mutants.len(), matrix.summary.plays);
        let (killers, cases) = (matrix.summary.killers, matrix.summary.cases - matrix.summary.exempt);
        format!(
            "sample: {mutants} of {all} mutants, the fewest that kill each case by the fingerprints; \
             {killers} of {cases} cases kill one, in {plays} case runs and {} ms",
            matrix.duration_ms
        )
    }
}

/// Runs as few mutants as the fingerprints say that it takes to make each case kill one. Fingerprints are of causes, so a
/// chosen mutant can survive a case: another one of the cause takes its place, until there is none.
pub async fn sample_matrix(bed: &TestBed, jobs: usize) -> Result<SampleMatrix, TestBedError> {
    let began = Instant::now();
    let cases = all_cases(bed);
    let mutants = MutantSet::new(&bed.spec).mutants;
    let reference = reference_results(bed).await?;
    let only_cases: Vec<Case> = cases.iter().map(|(_, case)| case.clone()).collect();
    let mut matrix = empty_matrix(&bed.spec, Scope::Gate, &only_cases);
    matrix.problems.extend(judge::reference_failures(&reference));
    let mut candidates = candidates(&mutants, &only_cases);
    let mut alive: BTreeSet<usize> =
        (0..cases.len()).filter(|case| judge::exemption(&only_cases[*case]).is_none()).collect();
    let mut results: BTreeMap<usize, MutantResult> = BTreeMap::new();
    loop {
        let round = cover(&candidates, &alive);
        if round.is_empty() {
            break;
        }
        let runs = round.iter().map(|(mutant, chosen)| {
            let cases = chosen.iter().map(|case| cases[*case].clone()).collect();
            mutant_run::run_anyway(bed, &mutants[*mutant], cases)
        });
        let runs: Vec<_> = stream::iter(runs.collect::<Vec<_>>()).buffered(jobs).try_collect().await?;
        for ((mutant, chosen), run) in round.into_iter().zip(runs) {
            candidates[mutant].retain(|case| !chosen.contains(case));
            let result = results.entry(mutant).or_default();
            result.cases.extend(run);
            let judged = judge::mutant(&mutants[mutant], result, &only_cases, &reference);
            alive.retain(|case| !judged.killers.contains(&only_cases[*case].id));
        }
    }
    let judged =
        results.iter().map(|(at, result)| judge::mutant(&mutants[*at], result, &only_cases, &reference));
    matrix.mutants = judged.filter(|mutant| mutant.status == MutantStatus::Killed).collect();
    matrix.summary.plays = results.values().map(|result| result.cases.len()).sum();
    judge::conclude(&mut matrix);
    matrix.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(SampleMatrix { matrix, all: mutants.len() })
}

/// The cases that each mutant may kill: those of its row that some mutant of its cause fails.
fn candidates(mutants: &[Mutant], cases: &[Case]) -> Vec<BTreeSet<usize>> {
    let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let of_mutant = mutants.iter().map(|mutant| {
        let known = known.entry(&mutant.cause).or_insert_with(|| {
            Fingerprints::builtin().cases_of_cause(&mutant.cause).into_iter().collect()
        });
        let may_kill = |case: &Case| {
            is_concerned(case, mutant) && case.rows.contains(&mutant.row) && known.contains(case.id.as_str())
        };
        (0..cases.len()).filter(|index| may_kill(&cases[*index])).collect()
    });
    of_mutant.collect()
}
