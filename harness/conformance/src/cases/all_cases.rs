use super::explore::sequence::SequencePlan;
use super::{AnyCase, Case, CaseList, Catalog, Collector, Edge, Keys, Part, Service};

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
    cases.into_cases()
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
    cases.into_cases()
}

/// All cases for a key set.
pub fn keys(catalog: Catalog<'_>) -> Vec<Case<Keys>> {
    let mut cases = CaseList::new(catalog);
    super::keys::add(&mut cases);
    cases.monitors();
    cases.into_cases()
}

/// All cases for a collector.
pub fn collector(catalog: Catalog<'_>) -> Vec<Case<Collector>> {
    let mut cases = CaseList::new(catalog);
    super::collector::add(&mut cases);
    cases.monitors();
    cases.into_cases()
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

fn extend<P: Part>(all: &mut Vec<Box<dyn AnyCase>>, cases: Vec<Case<P>>) {
    all.extend(cases.into_iter().map(|case| Box::new(case) as Box<dyn AnyCase>));
}
