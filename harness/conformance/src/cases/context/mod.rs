//! What a case works with: the part under test, the requests it sends, and what it finds.

mod edge;
mod findings;
mod service;
mod verdict_request;

pub use edge::{CaseContext, DeferredLogCheck, EdgeContext, FinishedScripts, LogCheck};
pub use findings::{CaseExchange, CaseFindings};
pub(crate) use service::{Reply, exposed, without_private_keys};
pub use service::{ServiceCaseContext, ServiceInputs, ServiceTarget};
pub use verdict_request::{VerdictRequest, key_set_request};
