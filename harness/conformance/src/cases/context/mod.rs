//! Contexts of cases: the part under test, the requests to it, and the findings.

mod case_context;
mod collector;
mod collector_page;
mod collector_traffic;
mod edge;
mod findings;
mod fresh_edges;
mod service;
mod service_traffic;
mod traffic;
mod verdict_request;

pub(super) use case_context::row;
pub use case_context::{CaseContext, CaseTarget, write_file};
pub(crate) use collector::OWN_REFERENCE;
pub use collector::{CollectorCaseContext, CollectorState, CollectorTarget, SealUse, Unopened};
pub use collector_page::{CollectorPage, PageSetup};
pub use collector_traffic::{CollectorTraffic, PageTrace};
pub use edge::{DeferredLogCheck, EdgeCaseContext, EdgeState, EdgeTarget, LogCheck};
pub use findings::{CaseExchange, CaseFindings};
pub use fresh_edges::{FreshEdgeRequest, FreshEdges};
pub use service::{ServiceCaseContext, ServiceInputs, ServiceTarget};
pub(crate) use service::{exposed, key_set_draft, without_private_keys};
pub use service_traffic::{ServiceExchange, ServiceTraffic};
pub use traffic::{Sender, TracedRequest, Traffic};
pub use verdict_request::VerdictRequest;
pub(super) use verdict_request::as_segment;
