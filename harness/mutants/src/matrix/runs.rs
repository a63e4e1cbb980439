use edgeproof::cases::CaseFacts;
use edgeproof_fixtures::spec::PartName;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::result::{CaseResults, MutantResult, case_results};
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

/// Runs as many mutants concurrently. `run` gets the position of each; the results are in this order.
pub(crate) async fn run_all<F>(
    count: usize,
    jobs: usize,
    progress: fn(usize, usize),
    run: impl Fn(usize) -> F,
) -> Result<Vec<MutantResult>, TestBedError>
where
    F: Future<Output = Result<MutantResult, TestBedError>>,
{
    let runs = (0..count).map(|at| {
        let run = run(at);
        async move { run.await.map(|result| (at, result)) }
    });
    let mut done = 0;
    // Unordered: some mutants take long.
    let finished = stream::iter(runs).buffer_unordered(jobs).inspect(|_| {
        done += 1;
        progress(done, count);
    });
    let mut results: Vec<(usize, MutantResult)> = finished.try_collect().await?;
    results.sort_by_key(|(at, _)| *at);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}
