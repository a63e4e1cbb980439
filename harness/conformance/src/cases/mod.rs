//! The conformance cases of an edge, a service, a key set and a collector, derived from the tables.

mod case;
mod catalog;
mod collector;
mod collector_monitor;
mod context;
mod conversation;
mod draft;
mod edge;
mod edge_monitor;
pub mod explore;
mod keys;
mod prerequisite;
mod service;
mod service_monitor;
pub(crate) mod summary;

pub use case::{Case, CollectorSteps, EdgeSteps, Phase, Procedure, ServiceSteps};
pub use catalog::Catalog;
pub use collector_monitor::CollectorMonitor;
pub use context::{CaseContext, CaseExchange, CaseFindings, DeferredLogCheck, EdgeContext, LogCheck, Sender};
pub use context::{
    CollectorCaseContext, CollectorPage, CollectorTarget, CollectorTraffic, PageTrace, SealUse,
};
pub use context::{
    FreshEdgeRequest, FreshEdges, ServiceCaseContext, ServiceExchange, ServiceInputs, ServiceTarget,
    ServiceTraffic, TracedRequest, Traffic, VerdictRequest, key_set_request,
};
use context::{exposed, without_private_keys};
pub use conversation::{Conversation, ExpectedRelay, judge};
use draft::posted;
pub use draft::{MARKER, ORIGIN, collection, fill};
pub(crate) use draft::{OTHER_ORIGIN, next_marker, preflight, to_signals};
pub use edge_monitor::EdgeMonitor;
pub use prerequisite::Prerequisite;
pub(crate) use service::token_echo;
pub use service_monitor::ServiceMonitor;

use edgeproof_reports::CaseLevel;
use strum::VariantArray;

/// All cases for an edge.
pub fn edge(mut catalog: Catalog<'_>) -> Vec<Case> {
    edge::add(&mut catalog);
    if catalog.explores {
        explore::add(&mut catalog);
    }
    explore::sequence::add_edge(&mut catalog);
    catalog.into_cases()
}

/// All cases for a service that gives verdicts.
pub fn service(mut catalog: Catalog<'_>) -> Vec<Case> {
    service::add(&mut catalog);
    explore::sequence::add_service(&mut catalog);
    add_monitors(&mut catalog, false);
    catalog.into_cases()
}

/// All cases for a key set.
pub fn keys(mut catalog: Catalog<'_>) -> Vec<Case> {
    keys::add(&mut catalog);
    add_monitors(&mut catalog, true);
    catalog.into_cases()
}

/// All cases for a collector.
pub fn collector(mut catalog: Catalog<'_>) -> Vec<Case> {
    collector::add(&mut catalog);
    for monitor in CollectorMonitor::VARIANTS {
        let case =
            catalog.add(monitor.row(), monitor.id(), monitor.title(), Procedure::CollectorMonitor(*monitor));
        case.requires(&[]).phase(Phase::Monitors);
        if monitor.is_open() {
            case.level(CaseLevel::Open);
        }
    }
    catalog.into_cases()
}

/// All cases of all targets. `catalog` makes one catalog for each target.
pub fn all<'a>(catalog: impl Fn() -> Catalog<'a>) -> Vec<Case> {
    [edge(catalog()), service(catalog()), keys(catalog()), collector(catalog())].concat()
}

/// Adds the monitors of a service, or those of a key set.
fn add_monitors(cases: &mut Catalog<'_>, of_keys: bool) {
    for monitor in ServiceMonitor::VARIANTS.iter().filter(|monitor| monitor.is_of_keys() == of_keys) {
        let [row, others @ ..] = monitor.rows() else { continue };
        let case = cases.add(row, monitor.id(), monitor.title(), Procedure::ServiceMonitor(*monitor));
        case.requires(&[]).phase(Phase::Monitors);
        for other in others {
            case.also(other);
        }
    }
}
