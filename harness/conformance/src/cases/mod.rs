//! The conformance cases of an edge, a service and a key set, derived from the tables.

mod case;
mod catalog;
mod context;
mod conversation;
mod draft;
mod edge;
mod edge_monitor;
mod keys;
mod prerequisite;
mod service;
pub(crate) mod summary;

pub use case::{Case, EdgeSteps, Phase, Procedure, ServiceSteps};
pub use catalog::Catalog;
pub use context::{CaseContext, CaseExchange, CaseFindings, DeferredLogCheck, EdgeContext, LogCheck, Sender};
pub use context::{
    ServiceCaseContext, ServiceInputs, ServiceTarget, TracedRequest, Traffic, VerdictRequest, key_set_request,
};
use context::{exposed, without_private_keys};
pub use conversation::{Conversation, ExpectedRelay, judge};
use draft::posted;
pub use draft::{MARKER, ORIGIN, collection, fill};
pub(crate) use draft::{preflight, to_signals};
pub use edge_monitor::EdgeMonitor;
pub use prerequisite::Prerequisite;

use crate::explore;

/// All cases for an edge.
pub fn edge(mut catalog: Catalog<'_>) -> Vec<Case> {
    edge::add(&mut catalog);
    if catalog.explores {
        explore::add(&mut catalog);
    }
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

/// All cases of all targets. `catalog` makes one catalog for each target.
pub fn all<'a>(catalog: impl Fn() -> Catalog<'a>) -> Vec<Case> {
    [edge(catalog()), service(catalog()), keys(catalog())].concat()
}
