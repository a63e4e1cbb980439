//! The cases: what is proven of an edge, a service and a key set, derived from the tables. A module for each topic of
//! the interface.

mod accept;
mod backend;
mod case;
mod case_context;
mod catalog;
mod conversation;
mod cors;
mod credentials;
mod fuzz;
mod isolation;
mod keys;
mod log;
mod methods;
mod other_paths;
mod read_failures;
mod refusals;
mod relay;
mod sanity;
mod service;
mod summary;
mod unreachable;

pub use backend::{Ask, Backend, ServiceInputs, ServiceTarget, fetch_keys};
pub use case::{Case, EdgeSteps, Need, Phase, Play, ServiceSteps};
pub use case_context::{CaseContext, CaseExchange, CaseFindings, EdgeContext, Kept, Later, LogJudge};
pub use catalog::Catalog;
pub use conversation::{Conversation, HEALTH, MARKER, ORIGIN, Relayed, SIGNALS, collection};
pub use conversation::{fill, judge};

/// All cases for an edge.
pub fn edge(mut catalog: Catalog<'_>) -> Vec<Case> {
    let cases = &mut catalog;
    sanity::add(cases);
    accept::add(cases);
    relay::add(cases);
    fuzz::add(cases);
    credentials::add(cases);
    refusals::add(cases);
    methods::add(cases);
    cors::add(cases);
    read_failures::add(cases);
    unreachable::add(cases);
    isolation::add(cases);
    log::add(cases);
    other_paths::add(cases);
    catalog.into_cases()
}

/// All cases for a service that gives verdicts.
pub fn service(mut catalog: Catalog<'_>) -> Vec<Case> {
    service::add(&mut catalog);
    catalog.into_cases()
}

/// All cases for a key set.
pub fn keys(mut catalog: Catalog<'_>) -> Vec<Case> {
    keys::add(&mut catalog);
    catalog.into_cases()
}

/// All cases there are; each kind of target with a catalog of its own.
pub fn all<'a>(catalog: impl Fn() -> Catalog<'a>) -> Vec<Case> {
    [edge(catalog()), service(catalog()), keys(catalog())].concat()
}
