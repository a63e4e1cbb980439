//! How often a run names the right cause.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use edgeproof::cases::CaseFacts;
use edgeproof::causes::{Explanation, Fingerprints};
use edgeproof_fixtures::spec::PartName;
use edgeproof_reports::matrix::MatrixAccuracy;
use edgeproof_targets::FaultInjection;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::mutant_failures::MutantFailures;
use super::sample;
use crate::hooks::{MutationInjection, OtherStyle, PairInjection};
use crate::matrix::{CaseResults, case_results, is_concerned};
use crate::mutant::Mutant;
use crate::play::{TestBed, TestBedError};

/// Pairs of mutants that run together.
const PAIRS: usize = 200;
/// Pairs in a quick gate.
const QUICK_PAIRS: usize = 50;
/// Mutants that run in an edge of another style.
const STYLED: usize = 60;
/// Such mutants in a quick gate.
const QUICK_STYLED: usize = 20;
/// Causes of a run with two mistakes that count as named.
const NAMED: usize = 3;

/// Part of a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// Number of hits.
    pub hits: usize,
    /// Number of tries.
    pub of: usize,
}

/// How often a run names the right cause.
#[derive(Debug, Clone, Default)]
pub struct Accuracy {
    /// Mutants whose cause is named first, each without its own fingerprint.
    pub left_out: Share,
    /// Mutants in an edge of another style whose cause is named first.
    pub styled: Share,
    /// Pairs of mutants, run together, whose causes are both named.
    pub pairs: Share,
    /// What is named in place of the right causes, a line each.
    pub misses: Vec<String>,
}

impl Share {
    fn add(&mut self, hit: bool, weight: usize) {
        self.hits += if hit { weight } else { 0 };
        self.of += weight;
    }

    /// The share in percent.
    pub fn percent(self) -> f64 {
        100.0 * self.hits as f64 / self.of.max(1) as f64
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} ({:.1} %)", self.hits, self.of, self.percent())
    }
}

impl Accuracy {
    /// Problems where a measured share is too low.
    pub fn problems(&self) -> Vec<String> {
        self.with_goals()
            .filter(|(_, share, goal)| share.percent() < *goal)
            .map(|(what, share, goal)| format!("{what}: {share}, at least {goal} % are needed"))
            .collect()
    }

    /// The measured shares, as a matrix keeps them.
    pub(crate) fn shares(&self) -> Vec<MatrixAccuracy> {
        let measured = self.with_goals();
        let kept =
            measured.map(|(name, Share { hits, of }, _)| MatrixAccuracy { name: name.into(), hits, of });
        kept.collect()
    }

    /// The measured shares, each with its name and the lowest one in percent.
    fn with_goals(&self) -> impl Iterator<Item = (&'static str, Share, f64)> {
        let all = [
            ("first cause right", self.left_out, 80.0),
            ("first cause right in an edge of another style", self.styled, 80.0),
            ("both causes named", self.pairs, 70.0),
        ];
        all.into_iter().filter(|(_, share, _)| share.of > 0)
    }
}

/// Measures with these fingerprints. `is_quick`: with smaller samples.
pub(crate) async fn measure(
    bed: &TestBed,
    known: &Fingerprints,
    mutants: &[Mutant],
    cases: &[(PartName, CaseFacts)],
    jobs: usize,
    is_quick: bool,
) -> Result<Accuracy, TestBedError> {
    // Each plays a whole run.
    let (pairs, styled) = if is_quick { (QUICK_PAIRS, QUICK_STYLED) } else { (PAIRS, STYLED) };
    let mut accuracy = left_out(known);
    let mutants: Vec<&Mutant> = mutants.iter().filter(|mutant| is_judged(known, mutant)).collect();
    let pairs = sample::pairs(&mutants, pairs).into_iter().map(|pair| async move {
        let [one, other] = pair.map(|mutant| MutationInjection::new(mutant.mutation.clone()));
        let faults = Arc::new(PairInjection::new(one, other));
        explain(bed, known, cases, &pair, faults).await.map(|named| (pair, named))
    });
    for (pair, named) in stream::iter(pairs).buffered(2 * jobs).try_collect::<Vec<_>>().await? {
        let named: Vec<&str> = named.iter().take(NAMED).map(|one| one.cause.as_str()).collect();
        let hit = pair.iter().all(|mutant| named.contains(&mutant.cause.as_str()));
        accuracy.pairs.add(hit, 1);
        if !hit {
            let wanted = pair.map(|mutant| format!("{} ({})", mutant.id, mutant.cause)).join(" with ");
            accuracy.misses.push(format!("{wanted}: {}", named.join(", ")));
        }
    }
    let styled = sample::of_edge(&mutants, styled).into_iter().map(|mutant| async move {
        let faults =
            Arc::new(PairInjection::new(MutationInjection::new(mutant.mutation.clone()), OtherStyle));
        explain(bed, known, cases, &[mutant], faults).await.map(|named| (mutant, named))
    });
    for (mutant, named) in stream::iter(styled).buffered(2 * jobs).try_collect::<Vec<_>>().await? {
        let first = named.first().map_or("none", |one| one.cause.as_str());
        accuracy.styled.add(first == mutant.cause, 1);
        if first != mutant.cause {
            accuracy.misses.push(format!("{} ({}) in another style: {first}", mutant.id, mutant.cause));
        }
    }
    Ok(accuracy)
}

/// Whether the mutant fails cases in a run that ends.
fn is_judged(known: &Fingerprints, mutant: &Mutant) -> bool {
    mutant.level != edgeproof_fixtures::spec::Level::Open && !known.cases_of_cause(&mutant.cause).is_empty()
}

/// Measures with each mutant left out, and nothing else.
pub(crate) fn left_out(known: &Fingerprints) -> Accuracy {
    let mut accuracy = Accuracy::default();
    let all: Vec<_> = known.iter().collect();
    let plain: BTreeSet<&str> = all
        .iter()
        .flat_map(|one| one.cases.keys())
        .map(String::as_str)
        .filter(|case| !is_varied(case))
        .collect();
    for one in &all {
        let mut ran = plain.clone();
        ran.extend(one.cases.keys().map(String::as_str));
        let named = known.explain_without(&one.cases, &ran, Some((&one.cause, &one.cases)));
        let first = named.first().map_or("none", |first| first.cause.as_str());
        accuracy.left_out.add(first == one.cause, one.mutants);
        if first != one.cause {
            let example = one.cases.keys().next().map(String::as_str).unwrap_or_default();
            accuracy.misses.push(format!("{} mutants of {} ({example}): {first}", one.mutants, one.cause));
        }
    }
    accuracy
}

/// Measures how often the first cause is right in runs of mutants, each without its own fingerprint.
pub(crate) fn first_causes(known: &Fingerprints, runs: &[MutantFailures]) -> Accuracy {
    let mut accuracy = Accuracy::default();
    for run in runs.iter().filter(|run| !run.failures.is_empty()) {
        let ran = run.ran.iter().map(String::as_str).collect();
        let named = known.explain_without(&run.failures, &ran, Some((&run.cause, &run.failures)));
        let first = named.first().map_or("none", |first| first.cause.as_str());
        accuracy.left_out.add(first == run.cause, 1);
        if first != run.cause {
            accuracy.misses.push(format!("{} ({}): {first}", run.mutant, run.cause));
        }
    }
    accuracy
}

/// Cases with hundreds of exchanges run only where a mutant concerns them.
fn is_varied(case: &str) -> bool {
    case.starts_with("vary.")
}

/// Other cases, with waits or with edges of their own, run only there too, so that the measurement takes a minute.
fn is_quick(case: &CaseFacts) -> bool {
    !is_varied(&case.id) && !case.id.starts_with("settings.") && case.takes.is_zero()
}

async fn explain(
    bed: &TestBed,
    known: &Fingerprints,
    cases: &[(PartName, CaseFacts)],
    mutants: &[&Mutant],
    faults: Arc<dyn FaultInjection>,
) -> Result<Vec<Explanation>, TestBedError> {
    let mut results = CaseResults::new();
    for part in bed.part_names() {
        let concerned = |(of, case): &&(PartName, CaseFacts)| {
            *of == part
                && mutants.iter().any(|mutant| {
                    mutant.mutation.affects(part) && (is_quick(case) || is_concerned(case, mutant))
                })
        };
        let concerned: Vec<CaseFacts> =
            cases.iter().filter(concerned).map(|(_, case)| case.clone()).collect();
        if !concerned.is_empty() {
            let run = bed.play(part, &concerned, Some(Arc::clone(&faults))).await?;
            results.extend(case_results(&run.reports));
        }
    }
    let MutantFailures { failures, ran, .. } = MutantFailures::new("", "", &results);
    Ok(known.explain(&failures, &ran.iter().map(String::as_str).collect()))
}
