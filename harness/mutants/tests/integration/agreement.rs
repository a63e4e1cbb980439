use std::collections::BTreeMap;

use edgeproof::cases::CaseFacts;
use edgeproof_edge::{EdgeFaultHooks, NoEdgeFaults};
use edgeproof_fixtures::spec::PartName;
use edgeproof_mutants::{Mutant, MutantSet, Mutation, TestBed};
use edgeproof_reports::Outcome;
use futures_util::future::join_all;

use crate::support::{block_on, test_bed};

/// Outcome and mismatches by case id.
type Results = BTreeMap<String, (Outcome, Vec<String>)>;

const MUTANTS: [&str; 10] = [
    "edge.200.accepted/no-answer",
    "edge.405.method-not-allowed/other-class",
    "edge.502.service-unreachable/other-row",
    "edge.refused/wrong-type-status",
    "edge.refused/unknown",
    "edge.refused.unknown/missing-reason",
    "relay.401.expired/upper-case-reason",
    "relay.401.unknown/extra-member",
    "relay.403.client-cert-revoked/no-cors",
    "relay.409.replayed-bundle/text-plain",
];

#[test]
fn results_without_sockets_equal_results_over_sockets() {
    let bed = test_bed();
    let mut cases = bed.cases(PartName::Edge);
    cases.retain(|case| bed.play_pure(case, &NoEdgeFaults, true).is_some());
    assert_eq!(pure(&bed, &cases, &NoEdgeFaults), block_on(over_sockets(&bed, &cases, None)));
    let mut mutants = MutantSet::new(&bed.spec).mutants;
    mutants.retain(|mutant| MUTANTS.contains(&mutant.id.as_str()));
    assert_eq!(mutants.len(), MUTANTS.len());
    // At the same time: some of them do not answer.
    let played = mutants.iter().map(|mutant| over_sockets(&bed, &cases, Some(mutant)));
    let played = block_on(join_all(played.collect::<Vec<_>>()));
    for (mutant, played) in mutants.iter().zip(played) {
        let Mutation::Row(mutation) = &mutant.mutation else { panic!("{} is not of a row", mutant.id) };
        assert_eq!(pure(&bed, &cases, mutation.as_ref()), played, "{}", mutant.id);
    }
}

fn pure(bed: &TestBed, cases: &[CaseFacts], hooks: &dyn EdgeFaultHooks) -> Results {
    let reads_reasons = bed.reads_reasons(hooks);
    let played = cases.iter().filter_map(|case| Some((case, bed.play_pure(case, hooks, reads_reasons)?)));
    played
        .map(|(case, played)| {
            let wrong = played.found.checks.iter().filter(|check| !check.ok).map(|check| check.what.clone());
            (case.id.clone(), (played.outcome, sorted(wrong)))
        })
        .collect()
}

async fn over_sockets(bed: &TestBed, cases: &[CaseFacts], mutant: Option<&Mutant>) -> Results {
    let result = bed.play(PartName::Edge, cases, mutant.map(Mutant::faults)).await.unwrap();
    let results = result.reports.into_iter().map(|report| {
        let wrong = report.mismatches.into_iter().map(|mismatch| mismatch.what);
        (report.id, (report.outcome, sorted(wrong)))
    });
    results.collect()
}

fn sorted(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    texts
}
