use edgeproof::cases::CaseFacts;
use edgeproof_fixtures::spec::PartName;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::result::{CaseResults, MutantResult, case_results};
use crate::mutant::Mutant;
use crate::play::{TestBed, TestBedError};

/// The cases of all parts.
pub(super) fn all_cases(bed: &TestBed) -> Vec<(PartName, CaseFacts)> {
    let of_part = |part| bed.cases(part).into_iter().map(move |case| (part, case));
    bed.part_names().flat_map(of_part).collect()
}

/// Results of all cases without a mutation.
pub(super) async fn reference_results(bed: &TestBed) -> Result<CaseResults, TestBedError> {
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
