use std::sync::Arc;

use edgeproof::cases::CaseFacts;
use edgeproof_fixtures::spec::PartName;
use edgeproof_reports::Outcome;
use futures_util::{StreamExt, TryStreamExt, stream};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

use super::condition::conditions;
use super::coverage::Coverage;
use super::draw::{ConditionalFault, candidates};
use super::outcome::outcomes;
use crate::play::{TestBed, TestBedError};

/// Most runs until each condition is met. How many exchanges there are at the same time depends on the machine.
const RUNS: usize = 3;

/// Part, draw and limits of a measurement.
#[derive(Debug, Clone, Copy)]
pub struct ConditionalOptions {
    /// The edge, or the service with its key set.
    pub part: PartName,
    /// Number of mutants that are drawn and played.
    pub draws: usize,
    /// Seed of the draw.
    pub seed: u64,
    /// Mutants that run at the same time.
    pub jobs: usize,
    /// Called after each mutant, with the number of those that are done and of all.
    pub progress: fn(usize, usize),
}

/// How much of the generated mutants the cases notice.
#[derive(Debug)]
pub struct ConditionalResult {
    /// Number of conditions.
    pub conditions: usize,
    /// Names of the conditions that no exchange meets.
    pub unmet: Vec<String>,
    /// Those that no exchange has to meet, each with the reason.
    pub excluded: Vec<(String, &'static str)>,
    /// Number of mutants whose conditions some exchange meets.
    pub candidates: usize,
    /// Names of the drawn mutants, each with the result of its run.
    pub drawn: Vec<(String, Noticed)>,
}

/// Result of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Noticed {
    /// No case failed or warned.
    Survived,
    /// A case warned.
    Warned,
    /// A case failed.
    Killed,
}

/// Counts which conditions the exchanges of a run meet, and plays mutants that are drawn from those.
pub async fn measure_conditions(
    bed: &TestBed,
    options: &ConditionalOptions,
) -> Result<ConditionalResult, TestBedError> {
    let ConditionalOptions { part, draws, seed, jobs, progress } = *options;
    let generated = conditions(part);
    let outcomes = outcomes(part);
    let coverage = Arc::new(Coverage::new(&generated, outcomes));
    let parts = if part == PartName::Edge { vec![part] } else { vec![PartName::Service, PartName::Keys] };
    let cases: Vec<(PartName, Vec<CaseFacts>)> =
        parts.into_iter().map(|part| (part, bed.cases(part))).collect();
    let is_unmet = |at: &usize| (0..outcomes.len()).all(|outcome| coverage.met(*at, outcome) == 0);
    let is_wanted = |at: &usize| generated[*at].excluded.is_none();
    for _ in 0..RUNS {
        for (part, cases) in &cases {
            bed.play(*part, cases, Some(Arc::clone(&coverage) as _)).await?;
        }
        if !(0..generated.len()).filter(is_wanted).any(|at| is_unmet(&at)) {
            break;
        }
    }
    let (mut unmet, mut excluded) = (Vec::new(), Vec::new());
    for at in (0..generated.len()).filter(is_unmet) {
        let name = generated[at].name.clone();
        match generated[at].excluded {
            Some(why) => excluded.push((name, why)),
            None => unmet.push(name),
        }
    }
    let mut candidates = candidates(part, &generated, &coverage);
    let all = candidates.len();
    candidates.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    candidates.truncate(draws);
    let count = candidates.len();
    let mut done = 0;
    let plays = candidates.into_iter().map(|candidate| {
        let cases = &cases;
        async move {
            Ok::<_, TestBedError>((candidate.name, noticed(bed, cases, Arc::new(candidate.fault)).await?))
        }
    });
    let finished = stream::iter(plays).buffer_unordered(jobs).inspect(|_| {
        done += 1;
        progress(done, count);
    });
    let mut drawn: Vec<(String, Noticed)> = finished.try_collect().await?;
    drawn.sort();
    Ok(ConditionalResult { conditions: generated.len(), unmet, excluded, candidates: all, drawn })
}

/// Result of these cases against a mutant.
async fn noticed(
    bed: &TestBed,
    cases: &[(PartName, Vec<CaseFacts>)],
    fault: Arc<ConditionalFault>,
) -> Result<Noticed, TestBedError> {
    let mut worst = Noticed::Survived;
    for (part, cases) in cases {
        let run = bed.play(*part, cases, Some(Arc::clone(&fault) as _)).await?;
        let of_cases = run.reports.iter().map(|report| match report.outcome {
            Outcome::Fail => Noticed::Killed,
            Outcome::Warn => Noticed::Warned,
            _ => Noticed::Survived,
        });
        // A finding about the whole run proves the mutant as well.
        let of_run = if run.exit_code == 3 { Noticed::Killed } else { Noticed::Survived };
        worst = of_cases.chain([of_run, worst]).max().unwrap_or(worst);
    }
    Ok(worst)
}
