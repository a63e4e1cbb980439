//! Kill matrix: which cases detect which mutants, and what the cases miss.

pub(crate) mod advice;
pub(crate) mod compare;
mod cover;
mod expected;
mod gate;
pub(crate) mod judge;
mod mutant_run;
mod other_version;
mod result;
mod runs;
mod sample;

use std::time::Instant;

use edgeproof::cases::CaseFacts;
use edgeproof::causes::Fingerprints;
use edgeproof_fixtures::spec::{PartName, Spec};
use edgeproof_reports::matrix::{Matrix, MatrixMutant, MutantStatus, Scope};

use crate::causes::{self, Accuracy, MutantFailures};
use crate::mutant::Mutant;
use crate::mutant_set::MutantSet;
use crate::play::{TestBed, TestBedError, trace};

pub use advice::sample_advice;
pub(crate) use gate::{has_advice, in_turn, turns};
pub(crate) use judge::empty_matrix;
pub use mutant_run::CANARIES;
pub(crate) use mutant_run::is_concerned;
pub(crate) use result::{CaseResults, MutantResult, case_results};
pub(crate) use runs::run_all;
use runs::{all_cases, reference_results};
pub use sample::{SampleMatrix, sample_matrix};
pub(crate) use sample::{is_monitor, without_kill};

/// Options of a matrix.
#[derive(Debug, Clone)]
pub struct MatrixOptions {
    /// Cases that each mutant runs against.
    pub scope: Scope,
    /// A gate plays a few cases of a row against each mutant at first, and measures causes with fewer runs.
    pub is_quick: bool,
    /// A gate makes the fingerprints of the mutants that fail otherwise again.
    pub renews: bool,
    /// Concurrent mutants.
    pub jobs: usize,
    /// Called after each mutant with the number of finished mutants and of all mutants.
    pub progress: fn(usize, usize),
}

/// A kill matrix and what stands behind it.
#[derive(Debug)]
pub struct KillMatrix {
    /// The matrix.
    pub matrix: Matrix,
    /// Fingerprints of all mutants. A gate has them only if it renews them.
    pub fingerprints: Option<Fingerprints>,
    /// How often a run names the right cause.
    pub accuracy: Accuracy,
}

/// Runs all mutants against the cases and judges the cases by the result. Compares their failures with the fingerprints
/// of this version; a full run makes new ones. A gate of another version than the current one runs the mutants that its
/// differences concern, and a sample of the others.
pub async fn kill_matrix(bed: &TestBed, options: &MatrixOptions) -> Result<KillMatrix, TestBedError> {
    let began = Instant::now();
    // The tables of causes and advice are about the current version.
    let is_current = *bed.spec == *Spec::current();
    if options.scope == Scope::Gate && !is_current {
        return other_version::gate(bed, options).await;
    }
    let cases = all_cases(bed);
    let MutantSet { mutants, equivalent, without_sample } = MutantSet::new(&bed.spec);
    let reference = reference_results(bed).await?;
    let traces = match options.scope {
        Scope::Gate => None,
        // A case alone mostly waits.
        Scope::Full => Some(trace(bed, &cases_with_steps(bed, &cases), options.jobs * 2).await?),
    };
    let results = if options.is_quick && options.scope == Scope::Gate {
        gate::few_results(bed, options, &mutants, &cases, &reference).await?
    } else {
        let run = |at: usize| mutant_run::run(bed, &mutants[at], &cases, traces.as_ref());
        run_all(mutants.len(), options.jobs, options.progress, run).await?
    };
    let failures = failures_of(&mutants, &results);
    let made = match options.scope {
        Scope::Full => Some(causes::fingerprints(&failures)),
        Scope::Gate if options.renews => Some(renewed(bed, options, &mutants, &cases, &failures).await?),
        Scope::Gate => None,
    };
    let known = made.as_ref().unwrap_or(Fingerprints::builtin());
    let accuracy = causes::measure(bed, known, &mutants, &cases, options.jobs, options.is_quick).await?;
    let cases: Vec<CaseFacts> = cases.into_iter().map(|(_, case)| case).collect();
    let mut matrix = empty_matrix(&bed.spec, options.scope, &cases);
    let ran: Vec<_> = mutants.iter().zip(&results).collect();
    if is_current {
        matrix.problems.extend(advice::problems(&bed.spec, &ran, &cases, is_of_matrix));
    }
    matrix.problems.extend(
        without_sample.iter().map(|row| {
            format!("{row}: no stimulus causes its answer, so no mutant could be derived from it")
        }),
    );
    matrix.problems.extend(judge::reference_failures(&reference, &matrix.cases));
    matrix.mutants = mutants
        .iter()
        .zip(&results)
        .map(|(mutant, result)| judge::mutant(mutant, result, &cases, &reference))
        .collect();
    let equivalent = equivalent
        .iter()
        .map(|mutant| MatrixMutant { status: MutantStatus::Equivalent, ..judge::unplayed(mutant) });
    matrix.mutants.extend(equivalent);
    matrix.summary.plays = results.iter().map(|result| result.cases.len()).sum();
    judge::conclude(&mut matrix);
    if is_current {
        matrix.problems.extend(expected::differences(&matrix));
        matrix.problems.extend(accuracy.problems());
    }
    if is_current && options.scope == Scope::Gate {
        matrix.problems.extend(causes::outdated(known, &failures, "just fingerprints"));
    }
    matrix.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    matrix.accuracy = accuracy.shares();
    Ok(KillMatrix { matrix, fingerprints: made, accuracy })
}

/// The built-in fingerprints, with those of mutants that fail otherwise made again.
async fn renewed(
    bed: &TestBed,
    options: &MatrixOptions,
    mutants: &[Mutant],
    cases: &[(PartName, CaseFacts)],
    failures: &[MutantFailures],
) -> Result<Fingerprints, TestBedError> {
    let known = Fingerprints::builtin();
    let differing: Vec<&Mutant> = causes::differing(known, failures).map(|at| &mutants[at]).collect();
    let traces = trace(bed, &cases_with_steps(bed, cases), options.jobs * 2).await?;
    let run = |at: usize| mutant_run::run(bed, differing[at], cases, Some(&traces));
    let results = run_all(differing.len(), options.jobs, options.progress, run).await?;
    Ok(causes::renewed(known, failures, &failures_of(differing, &results)))
}

fn failures_of<'m>(
    mutants: impl IntoIterator<Item = &'m Mutant>,
    results: &[MutantResult],
) -> Vec<MutantFailures> {
    let ran = mutants.into_iter().zip(results);
    ran.map(|(mutant, result)| MutantFailures::new(&mutant.id, &mutant.cause, &result.cases)).collect()
}

/// Whether a mutant with this id is none of the collector's, which have a matrix of their own.
fn is_of_matrix(id: &str) -> bool {
    !is_of_collector(id)
}

/// Whether a mutant with this id is one of the collector's.
pub(crate) fn is_of_collector(id: &str) -> bool {
    id.starts_with("collector/")
}

/// Cases that need sockets.
fn cases_with_steps(bed: &TestBed, cases: &[(PartName, CaseFacts)]) -> Vec<(PartName, CaseFacts)> {
    cases.iter().filter(|(part, case)| !bed.plays_pure(*part, case)).cloned().collect()
}
