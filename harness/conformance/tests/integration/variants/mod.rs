//! Conforming edges pass: the reference edge, varied in every choice that the interface leaves open, passes every case
//! without a failure or a warning.

mod conformance_run;
mod edge_variant;
mod launched;
mod leniency;
mod recommended;
mod variant_hooks;

use std::sync::Arc;

use edgeproof::cases::explore::all_pairs;
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_targets::{Embedded, Target};
use tokio::task::JoinSet;

pub(crate) use conformance_run::RunCredentials;
use conformance_run::{CaseSelection, mismatches};
use edge_variant::EdgeVariant;

/// Number of variants under test at the same time.
const CONCURRENCY: usize = 4;
/// One of this number of variants is played by default. CI plays all: `EDGEPROOF_VARIANTS=all`.
const SAMPLED: usize = 5;

/// Each value of each choice is in several of these variants.
#[tokio::test(flavor = "multi_thread")]
async fn every_pair_of_choices_conforms() {
    check(sample(all_pairs(EdgeVariant::CHOICES)), Version::Current, false, CaseSelection::All).await;
}

/// Few variants, which together have every value of every choice: each plays thousands of exchanges. The pairs play the
/// other cases.
#[tokio::test(flavor = "multi_thread")]
async fn every_choice_conforms_with_variation() {
    let most = EdgeVariant::CHOICES.iter().copied().max().unwrap_or_default();
    let variant = |number: usize| EdgeVariant::CHOICES.iter().map(|count| number % count).collect();
    let variants = sample((1..=most).map(variant).collect());
    check(variants, Version::Current, false, CaseSelection::Explored).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn some_pairs_conform_over_https_and_with_the_pre_seal_spec() {
    let mut variants = all_pairs(EdgeVariant::CHOICES);
    variants.truncate(4);
    check(variants.clone(), Version::Current, true, CaseSelection::All).await;
    check(variants, Version::PreSeal, false, CaseSelection::All).await;
}

#[test]
fn pairs_of_choices_need_fewer_than_60_variants() {
    let variants = all_pairs(EdgeVariant::CHOICES).len();
    assert!(variants < 60, "{variants}");
}

/// The variants that this run plays. Says which.
#[expect(clippy::print_stdout, reason = "the person who runs the tests reads what was left out")]
fn sample(variants: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    if std::env::var("EDGEPROOF_VARIANTS").is_ok_and(|which| which == "all") {
        return variants;
    }
    let all = variants.len();
    let sample: Vec<_> = variants.into_iter().step_by(SAMPLED).collect();
    println!("{} of {all} variants; EDGEPROOF_VARIANTS=all plays all", sample.len());
    sample
}

/// Runs the cases against each variant. Fails with the mismatches of all variants.
async fn check(variants: Vec<Vec<usize>>, version: Version, https: bool, cases: CaseSelection) {
    let spec = Arc::new(Spec::builtin(version));
    let credentials = Arc::new(RunCredentials::new());
    let mut variants = variants.into_iter().map(|positions| EdgeVariant::from_positions(&positions));
    let mut runs = JoinSet::new();
    let mut found = Vec::new();
    // A run that explores variation has dozens of exchanges at the same time, and waits for few of them.
    let concurrency = if cases == CaseSelection::Explored { CONCURRENCY / 2 } else { CONCURRENCY };
    loop {
        while runs.len() < concurrency
            && let Some(variant) = variants.next()
        {
            let (spec, credentials) = (Arc::clone(&spec), Arc::clone(&credentials));
            runs.spawn(async move {
                let target = embedded(&spec, variant, https, &credentials);
                let name = format!("{{{}}}", variant.differences());
                mismatches(&spec, &credentials, target, cases, &name).await
            });
        }
        let Some(run) = runs.join_next().await else { break };
        found.extend(run.unwrap());
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn embedded(spec: &Arc<Spec>, variant: EdgeVariant, https: bool, credentials: &RunCredentials) -> Target {
    let embedded = Embedded::new(Arc::clone(spec), spec.profile().clone()).with_faults(Arc::new(variant));
    let embedded =
        if https { embedded.https(&credentials.credentials, &credentials.files) } else { embedded };
    Target::Embedded(Box::new(embedded))
}
