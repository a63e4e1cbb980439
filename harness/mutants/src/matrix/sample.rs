use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use edgeproof::cases::{CaseFacts, Phase};
use edgeproof::causes::{Fingerprint, Fingerprints};
use edgeproof_fixtures::spec::PartName;
use edgeproof_reports::matrix::{Matrix, MatrixCase, MatrixMutant, MutantStatus, Scope};
use futures_util::TryStreamExt;
use futures_util::stream::FuturesUnordered;

use super::cover::cover;
use super::judge::{self, empty_matrix};
use super::mutant_run::{is_concerned, is_of_gate, run_anyway};
use super::result::{CaseResults, MutantResult};
use super::runs::all_cases;
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

/// Shares of a cause's mutants, in percent, that have to fail a case before a mutant is chosen for it: once the first one,
/// then the lower ones as well. Fingerprints are of causes, so a chosen mutant can survive; and they can lack a new case.
const SHARES: [usize; 3] = [50, 1, 0];

/// Runs as few mutants as the fingerprints say that it takes to make each case kill one, and others for the cases that
/// killed none.
pub async fn sample_matrix(bed: &TestBed, jobs: usize) -> Result<SampleMatrix, TestBedError> {
    let began = Instant::now();
    let mutants = MutantSet::new(&bed.spec).mutants;
    let cases = all_cases(bed);
    let facts: Vec<CaseFacts> = cases.iter().map(|(_, case)| case.clone()).collect();
    let mut matrix = empty_matrix(&bed.spec, Scope::Gate, &facts);
    let open = without_kill(&matrix.cases, &[]);
    let results = play(bed, jobs, &mutants, &cases, open).await?;
    let all = results.iter().map(|(mutant, result)| judged(&mutants[*mutant], result, &facts));
    matrix.mutants = all.filter(|mutant| mutant.status == MutantStatus::Killed).collect();
    matrix.summary.plays = results.values().map(|result| result.cases.len()).sum();
    judge::conclude(&mut matrix);
    matrix.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(SampleMatrix { matrix, all: mutants.len() })
}

/// Runs mutants until each of the open cases killed one, where a mutant can be killed by it. Yields the results by the
/// positions of the mutants. `open`: positions of cases.
pub(super) async fn play(
    bed: &TestBed,
    jobs: usize,
    mutants: &[Mutant],
    cases: &[(PartName, CaseFacts)],
    mut open: BTreeSet<usize>,
) -> Result<BTreeMap<usize, MutantResult>, TestBedError> {
    let facts: Vec<CaseFacts> = cases.iter().map(|(_, case)| case.clone()).collect();
    let mut results: BTreeMap<usize, MutantResult> = BTreeMap::new();
    let [first, later @ ..] = SHARES.map(|share| candidates(mutants, &facts, share));
    // Mutants that take long kill few cases, so they go first.
    let mut queue = cover(&first, &open);
    let mut untried = later;
    let mut running = FuturesUnordered::new();
    loop {
        while running.len() < jobs {
            if queue.is_empty() {
                let rounds = untried.iter().map(|candidates| cover(candidates, &open));
                queue = rounds.into_iter().find(|round| !round.is_empty()).unwrap_or_default();
            }
            let Some((at, chosen)) = queue.pop() else { break };
            // A case is open until it killed a mutant, except while it is on trial with one.
            let chosen = &chosen & &open;
            if chosen.is_empty() {
                // Mutants chosen for other cases were killed by these as well.
                continue;
            }
            open.retain(|case| !chosen.contains(case));
            for candidates in &mut untried {
                candidates[at].retain(|case| !chosen.contains(case));
            }
            let mutant = &mutants[at];
            // A monitor judges the requests of other cases.
            let all = chosen.iter().any(|case| is_monitor(&facts[*case]));
            let is_played = |at: &usize| chosen.contains(at) || all && is_of_gate(&facts[*at], mutant);
            let played = (0..cases.len()).filter(is_played).map(|at| cases[at].clone());
            let run = run_anyway(bed, mutant, played.collect());
            running.push(async move { run.await.map(|ended| (at, chosen, ended)) });
        }
        let Some((at, chosen, ended)) = running.try_next().await? else { break };
        let result = results.entry(at).or_default();
        result.cases.extend(ended);
        let killers = judged(&mutants[at], result, &facts).killers;
        let survived = |case: &usize| !killers.contains(&facts[*case].id);
        open.retain(survived);
        open.extend(chosen.into_iter().filter(survived));
    }
    Ok(results)
}

/// Positions of the cases that have to kill a mutant, and killed none of these.
pub(crate) fn without_kill(cases: &[MatrixCase], mutants: &[MatrixMutant]) -> BTreeSet<usize> {
    let killers: BTreeSet<&String> = mutants.iter().flat_map(|mutant| &mutant.killers).collect();
    let is_open = |at: &usize| cases[*at].exempt.is_none() && !killers.contains(&cases[*at].id);
    (0..cases.len()).filter(is_open).collect()
}

/// Judges a mutant by its killers. Without a reference no observation differs.
pub(super) fn judged(mutant: &Mutant, result: &MutantResult, cases: &[CaseFacts]) -> MatrixMutant {
    judge::mutant(mutant, result, cases, &CaseResults::new())
}

/// Whether a case judges what others send.
pub(crate) fn is_monitor(case: &CaseFacts) -> bool {
    case.phase == Phase::Monitors
}

/// The cases of its row that each mutant may kill: `share` percent of the mutants of its cause fail them.
fn candidates(mutants: &[Mutant], cases: &[CaseFacts], share: usize) -> Vec<BTreeSet<usize>> {
    let mut known: BTreeMap<String, Vec<Fingerprint>> = BTreeMap::new();
    for one in Fingerprints::builtin().iter() {
        known.entry(one.cause.clone()).or_default().push(one);
    }
    let of_mutant = mutants.iter().map(|mutant| {
        let own = |case: &CaseFacts| is_concerned(case, mutant) && case.rows.contains(&mutant.row);
        let own: Vec<usize> = (0..cases.len()).filter(|index| own(&cases[*index])).collect();
        let fails = |one: &&Fingerprint, index: usize| one.cases.contains_key(&cases[index].id);
        // Those of the mutants of other rows tell nothing.
        let alike: Vec<&Fingerprint> = known
            .get(&mutant.cause)
            .into_iter()
            .flatten()
            .filter(|one| own.iter().any(|index| fails(one, *index)))
            .collect();
        let count =
            |alike: &mut dyn Iterator<Item = &&Fingerprint>| -> usize { alike.map(|one| one.mutants).sum() };
        let all = count(&mut alike.iter());
        let may_kill = |index: &usize| {
            let failing = count(&mut alike.iter().filter(|one| fails(one, *index)));
            failing * 100 >= (all * share).max(share)
        };
        own.iter().copied().filter(may_kill).collect()
    });
    of_mutant.collect()
}
