use std::collections::BTreeMap;

use edgeproof_edge::{EdgeFaultHooks, NoFaults};
use edgeproof_mutants::{Deviations, How, Side, World};
use edgeproof_reports::Outcome;

use crate::support::{wait_for, world};

type Ends = BTreeMap<String, (Outcome, Vec<String>)>;

/// Conversations come to the same with and without sockets: on the right edge, and on one with each kind of deviation.
#[test]
fn with_and_without_sockets_come_to_the_same() {
    let world = world();
    let deviations = Deviations::of(&world.pure.spec).all;
    assert_eq!(pure(&world, &NoFaults), over_sockets(&world, None));
    for id in [
        "edge.200.accepted/withheld",
        "edge.405.method-not-allowed/other-class",
        "edge.502.service-unreachable/neighbours-answer",
        "edge.refused/wrong-type-status",
        "edge.refused/unknown",
        "edge.refused.unknown/missing-reason",
        "relay.401.expired/capitals-reason",
        "relay.401.unknown/extra-member",
        "relay.403.client-cert-revoked/no-cors",
        "relay.409.replayed-bundle/text-type",
    ] {
        let deviation =
            deviations.iter().find(|deviation| deviation.id == id).unwrap_or_else(|| panic!("{id}"));
        let How::AtRow(at) = &deviation.how else { panic!("{id} is no deviation at a row") };
        assert_eq!(pure(&world, at.as_ref()), over_sockets(&world, Some(deviation)), "{id}");
    }
}

fn pure(world: &World, hooks: &dyn EdgeFaultHooks) -> Ends {
    let reads = world.pure.reads_reasons(hooks);
    let cases = world.cases(Side::Edge);
    let played = cases.iter().filter_map(|case| Some((case, world.pure.play(case, hooks, reads)?)));
    played
        .map(|(case, played)| {
            let wrong = played.found.checks.iter().filter(|check| !check.ok).map(|check| check.what.clone());
            (case.id.clone(), (played.outcome, sorted(wrong)))
        })
        .collect()
}

fn over_sockets(world: &World, deviation: Option<&edgeproof_mutants::Deviation>) -> Ends {
    let mut cases = world.cases(Side::Edge);
    cases.retain(|case| world.pure.play(case, &NoFaults, true).is_some());
    let faults = deviation.map(edgeproof_mutants::Deviation::faults);
    let ran = wait_for(world.play(Side::Edge, &cases, faults.as_ref())).unwrap();
    let ended = ran.reports.into_iter().map(|report| {
        let wrong = report.mismatches.into_iter().map(|mismatch| mismatch.what);
        (report.id, (report.outcome, sorted(wrong)))
    });
    ended.collect()
}

fn sorted(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut words: Vec<String> = words.collect();
    words.sort();
    words
}
