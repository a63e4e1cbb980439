//! The decisions of the mock service, as pure functions: tables, profile and facts of a request in, answer out.

mod collection;
mod collection_facts;
mod licenses;
mod outage;
mod reply_shape;
mod service_decision;
mod verdict;
mod verdict_facts;

pub use collection::decide;
pub(crate) use collection_facts::RelayedRequest;
pub use collection_facts::{CollectionFacts, Replay};
pub(crate) use licenses::holds_token;
pub use licenses::{presented_licenses, presents_license};
pub use outage::{Outage, ReadOutage};
pub use reply_shape::{ReplyShape, ReplyShapeError};
pub use service_decision::ServiceDecision;
pub(crate) use service_decision::allowed_body;
pub use verdict::decide_verdict;
pub(crate) use verdict::refuse;
pub use verdict_facts::{SessionFact, VerdictFacts};
