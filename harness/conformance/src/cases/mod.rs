//! The conformance cases of an edge, a service, a key set and a collector, derived from the tables.

#[macro_use]
mod steps;

mod all_cases;
mod any_case;
mod case;
mod case_list;
mod catalog;
mod collector;
mod context;
mod conversation;
mod draft;
mod edge;
mod edge_rule;
pub mod explore;
mod keys;
mod look_alike;
pub(crate) mod methods;
mod monitors;
mod need;
mod part;
mod point_rule;
mod releases;
mod service;
mod setting_forms;
mod setup;
pub(crate) mod summary;
mod unfamiliar_fields;
mod visitor;

pub use all_cases::{all, collector, edge, edge_with_sequences, keys, service, service_with_sequences};
pub use any_case::AnyCase;
pub use case::{Case, CaseFacts, Phase, Procedure, Steps};
pub(crate) use case::{basis, level};
pub use case_list::{CaseList, NewCase};
pub use catalog::Catalog;
pub use collector::{Collector, with_session};
pub(crate) use context::OWN_REFERENCE;
pub use context::{
    CaseContext, CaseExchange, CaseFindings, CaseTarget, DeferredLogCheck, EdgeCaseContext, EdgeState,
    EdgeTarget, LogCheck, Sender,
};
pub use context::{
    CollectorCaseContext, CollectorPage, CollectorState, CollectorTarget, CollectorTraffic, PageSetup,
    PageTrace, SealUse, Unopened,
};
pub use context::{
    FreshEdgeRequest, FreshEdges, ServiceCaseContext, ServiceExchange, ServiceInputs, ServiceTarget,
    ServiceTraffic, TracedRequest, Traffic, VerdictRequest, write_file,
};
use context::{as_segment, exposed, key_set_draft, without_private_keys};
pub use conversation::{Conversation, ExpectedRelay, judge};
use draft::posted;
pub(crate) use draft::{HEALTH, OTHER_ORIGIN, collection_from, next_marker, preflight, to_signals};
pub use draft::{MARKER, ORIGIN, SIGNALS, collection, fill};
pub(crate) use edge::presents_configured;
pub use edge::{Edge, EdgeLaunch};
pub use edge_rule::{EdgeObservation, EdgeRule};
pub use keys::{KeySetExchange, KeySetObservation, KeySetRule, Keys};
pub use monitors::{CollectorMonitor, EdgeMonitor, ServiceMonitor};
pub use need::{EdgeNeed, ServiceNeed};
pub use part::{CaseSettings, Exchange, Monitor, Part, RateLimitRule};
pub use point_rule::PointRule;
pub use releases::{Release, Releases, RemovedCase};
pub(crate) use service::{
    AVAILABLE, OUTAGE, PENDING, PUBLISHED, REVOKED, UNAUTHORIZED, answer, is_pending, published_status,
    refusal_statuses, token_echo,
};
pub use service::{Service, TokenChoice, VerdictExchange, VerdictObservation, VerdictRule};
pub use setting_forms::{SECOND_ORIGIN, SettingForms, URL_ENCODED_PREFIX, URL_PREFIX, page_origin};
pub use setup::{OTHER_ALLOWED_ORIGIN, Setup};
use unfamiliar_fields::UnfamiliarFields;
use visitor::{PATIENCE, Visitor, VisitorRelay};
