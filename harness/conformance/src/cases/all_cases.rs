use edgeproof_fixtures::spec::{Spec, Version};

use super::explore::sequence::SequencePlan;
use super::{AnyCase, Case, CaseList, Catalog, Collector, Edge, Keys, Part, Releases, Service};

/// Beginning of the ids of saved sequences.
const REPLAYS: &str = "replay.";

/// All cases for an edge.
pub fn edge(catalog: Catalog<'_>) -> Vec<Case<Edge>> {
    edge_with_sequences(catalog, SequencePlan::default())
}

/// All cases for an edge, and random and saved sequences of steps.
pub fn edge_with_sequences(catalog: Catalog<'_>, sequences: SequencePlan) -> Vec<Case<Edge>> {
    let mut cases = CaseList::new(catalog);
    super::edge::add(&mut cases);
    if catalog.explores {
        super::explore::add(&mut cases);
    }
    super::explore::sequence::add_edge(&mut cases, sequences);
    dated(cases)
}

/// All cases for a service that gives verdicts.
pub fn service(catalog: Catalog<'_>) -> Vec<Case<Service>> {
    service_with_sequences(catalog, SequencePlan::default())
}

/// All cases for a service that gives verdicts, and random and saved sequences of requests.
pub fn service_with_sequences(catalog: Catalog<'_>, sequences: SequencePlan) -> Vec<Case<Service>> {
    let mut cases = CaseList::new(catalog);
    super::service::add(&mut cases);
    super::explore::sequence::add_service(&mut cases, sequences);
    cases.monitors();
    dated(cases)
}

/// All cases for a key set.
pub fn keys(catalog: Catalog<'_>) -> Vec<Case<Keys>> {
    let mut cases = CaseList::new(catalog);
    super::keys::add(&mut cases);
    cases.monitors();
    dated(cases)
}

/// All cases for a collector.
pub fn collector(catalog: Catalog<'_>) -> Vec<Case<Collector>> {
    let mut cases = CaseList::new(catalog);
    super::collector::add(&mut cases);
    cases.monitors();
    dated(cases)
}

/// All cases of all parts.
pub fn all(catalog: Catalog<'_>) -> Vec<Box<dyn AnyCase>> {
    let mut all = Vec::new();
    extend(&mut all, edge(catalog));
    extend(&mut all, service(catalog));
    extend(&mut all, keys(catalog));
    extend(&mut all, collector(catalog));
    all
}

/// The cases, each with the version that added it.
fn dated<P: Part>(list: CaseList<'_, P>) -> Vec<Case<P>> {
    let (releases, spec) = (Releases::builtin(), list.spec);
    // Rows of other tables have cases of their own.
    let mut named = Version::ALL.iter().filter(|version| version.name() == spec.version());
    let is_builtin = named.any(|version| *spec == Spec::builtin(*version));
    let mut cases = list.into_cases();
    for case in &mut cases {
        let is_own = !is_builtin || case.id.starts_with(REPLAYS);
        case.since = match releases.released_in(&case.id) {
            None if !is_own => Some(releases.unreleased()),
            released => released,
        };
    }
    cases
}

fn extend<P: Part>(all: &mut Vec<Box<dyn AnyCase>>, cases: Vec<Case<P>>) {
    all.extend(cases.into_iter().map(|case| Box::new(case) as Box<dyn AnyCase>));
}
