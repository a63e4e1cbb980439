//! Kill matrix: which cases detect which mutants, and what the cases miss.

pub(crate) mod advice;
pub(crate) mod compare;
mod cover;
mod expected;
pub(crate) mod judge;
mod mutant_run;
mod result;
mod sample;

use std::time::Instant;

use edgeproof::cases::CaseFacts;
use edgeproof::causes::Fingerprints;
use edgeproof_fixtures::spec::{PartName, Spec};
use edgeproof_reports::matrix::{
    Matrix, MatrixCase, MatrixMutant, MatrixSummary, MutantStatus, SCHEMA, Scope,
};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::causes::{self, Accuracy, MutantFailures};
use crate::mutant::Mutant;
use crate::mutant_set::MutantSet;
use crate::play::{TestBed, TestBedError, trace};

pub use advice::sample_advice;
pub use mutant_run::CANARIES;
pub(crate) use mutant_run::is_concerned;
pub(crate) use result::{CaseResults, MutantResult, case_results};
pub use sample::{SampleMatrix, sample_matrix};

/// Options of a matrix.
#[derive(Debug, Clone)]
pub struct MatrixOptions {
    /// Cases that each mutant runs against.
    pub scope: Scope,
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
    /// How each mutant failed the cases that it ran against.
    pub failures: Vec<MutantFailures>,
    /// How often a run names the right cause.
    pub accuracy: Accuracy,
}

/// Runs all mutants against the cases and judges the cases by the result. Compares their failures with the fingerprints
/// of this version; a full run makes new ones.
pub async fn kill_matrix(bed: &TestBed, options: &MatrixOptions) -> Result<KillMatrix, TestBedError> {
    let began = Instant::now();
    let cases = all_cases(bed);
    let MutantSet { mutants, equivalent, without_sample } = MutantSet::new(&bed.spec);
    let reference = reference_results(bed).await?;
    let traces = match options.scope {
        Scope::Gate => None,
        // A case alone mostly waits.
        Scope::Full => Some(trace(bed, &cases_with_steps(bed, &cases), options.jobs * 2).await?),
    };
    let run = |mutant| mutant_run::run(bed, mutant, &cases, traces.as_ref());
    let results = run_all(&mutants, options.jobs, options.progress, run).await?;
    let failures: Vec<MutantFailures> = mutants
        .iter()
        .zip(&results)
        .map(|(Mutant { id, cause, .. }, result)| MutantFailures::new(id, cause, &result.cases))
        .collect();
    let made;
    let known = match options.scope {
        Scope::Gate => Fingerprints::builtin(),
        Scope::Full => {
            made = causes::fingerprints(&failures);
            &made
        }
    };
    let accuracy = causes::measure(bed, known, &mutants, &cases, options.jobs).await?;
    let cases: Vec<CaseFacts> = cases.into_iter().map(|(_, case)| case).collect();
    let mut matrix = empty_matrix(&bed.spec, options.scope, &cases);
    let ran: Vec<_> = mutants.iter().zip(&results).collect();
    // The tables of causes and advice are about the current version.
    let is_current = *bed.spec == *Spec::current();
    if is_current {
        matrix.problems.extend(advice::problems(&bed.spec, &ran, &cases, is_of_matrix));
    }
    matrix.problems.extend(
        without_sample.iter().map(|row| {
            format!("{row}: no stimulus causes its answer, so no mutant could be derived from it")
        }),
    );
    matrix.problems.extend(judge::reference_failures(&reference));
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
        matrix.problems.extend(causes::outdated(Fingerprints::builtin(), &failures, "just fingerprints"));
    }
    matrix.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(KillMatrix { matrix, failures, accuracy })
}

/// Whether a mutant with this id is none of the collector's, which have a matrix of their own.
fn is_of_matrix(id: &str) -> bool {
    !is_of_collector(id)
}

/// Whether a mutant with this id is one of the collector's.
pub(crate) fn is_of_collector(id: &str) -> bool {
    id.starts_with("collector/")
}

/// The cases of all parts.
fn all_cases(bed: &TestBed) -> Vec<(PartName, CaseFacts)> {
    let of_part = |part| bed.cases(part).into_iter().map(move |case| (part, case));
    bed.part_names().flat_map(of_part).collect()
}

/// Results of all cases without a mutation.
async fn reference_results(bed: &TestBed) -> Result<CaseResults, TestBedError> {
    let mut reference = CaseResults::new();
    for part in bed.part_names() {
        reference.extend(case_results(&bed.play(part, &bed.cases(part), None).await?.reports));
    }
    Ok(reference)
}

/// Runs mutants concurrently. The results are in the order of the mutants.
pub(crate) async fn run_all<'a, F>(
    mutants: &'a [Mutant],
    jobs: usize,
    progress: fn(usize, usize),
    run: impl Fn(&'a Mutant) -> F,
) -> Result<Vec<MutantResult>, TestBedError>
where
    F: Future<Output = Result<MutantResult, TestBedError>>,
{
    let runs = mutants.iter().enumerate().map(|(index, mutant)| {
        let run = run(mutant);
        async move { run.await.map(|result| (index, result)) }
    });
    let mut done = 0;
    // Unordered: some mutants take long.
    let finished = stream::iter(runs).buffer_unordered(jobs).inspect(|_| {
        done += 1;
        progress(done, mutants.len());
    });
    let mut results: Vec<(usize, MutantResult)> = finished.try_collect().await?;
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// Matrix without mutants.
pub(crate) fn empty_matrix(spec: &Spec, scope: Scope, cases: &[CaseFacts]) -> Matrix {
    Matrix {
        schema: SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        spec: spec.version().to_string(),
        digest: spec.digest().into(),
        scope,
        duration_ms: 0,
        summary: MatrixSummary::default(),
        problems: Vec::new(),
        cases: cases
            .iter()
            .map(|case| MatrixCase {
                id: case.id.clone(),
                level: case.level,
                rows: case.rows.clone(),
                kills: 0,
                exempt: judge::exemption(case),
            })
            .collect(),
        mutants: Vec::new(),
    }
}

/// Cases that need sockets.
fn cases_with_steps(bed: &TestBed, cases: &[(PartName, CaseFacts)]) -> Vec<(PartName, CaseFacts)> {
    cases.iter().filter(|(part, case)| !bed.plays_pure(*part, case)).cloned().collect()
}
