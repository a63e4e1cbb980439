use std::collections::BTreeMap;

use edgeproof_edge::{EdgeFaultHooks, NoEdgeFaults};
use edgeproof_mutants::{Mutant, MutantSet, Mutation, TestBed, TestedPart};
use edgeproof_reports::Outcome;

use crate::support::{block_on, test_bed};

/// Outcome and mismatches by case id.
type Results = BTreeMap<String, (Outcome, Vec<String>)>;

#[test]
fn results_without_sockets_equal_results_over_sockets() {
    let bed = test_bed();
    let mutants = MutantSet::new(&bed.spec).mutants;
    assert_eq!(pure(&bed, &NoEdgeFaults), over_sockets(&bed, None));
    for id in [
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
    ] {
        let mutant =
            mutants.iter().find(|mutant| mutant.id == id).unwrap_or_else(|| panic!("no mutant {id}"));
        let Mutation::Row(mutation) = &mutant.mutation else { panic!("{id} is not derived from a row") };
        assert_eq!(pure(&bed, mutation.as_ref()), over_sockets(&bed, Some(mutant)), "{id}");
    }
}

fn pure(bed: &TestBed, hooks: &dyn EdgeFaultHooks) -> Results {
    let reads_reasons = bed.reads_reasons(hooks);
    let cases = bed.cases(TestedPart::Edge);
    let played = cases.iter().filter_map(|case| Some((case, bed.play_pure(case, hooks, reads_reasons)?)));
    played
        .map(|(case, played)| {
            let wrong = played.found.checks.iter().filter(|check| !check.ok).map(|check| check.what.clone());
            (case.id.clone(), (played.outcome, sorted(wrong)))
        })
        .collect()
}

fn over_sockets(bed: &TestBed, mutant: Option<&Mutant>) -> Results {
    let mut cases = bed.cases(TestedPart::Edge);
    cases.retain(|case| bed.play_pure(case, &NoEdgeFaults, true).is_some());
    let result = block_on(bed.play(TestedPart::Edge, &cases, mutant.map(Mutant::faults))).unwrap();
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
