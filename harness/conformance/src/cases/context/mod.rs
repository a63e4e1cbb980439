//! What a case works with: the part under test, the requests it sends, and what it finds.

mod edge;
mod findings;
mod service;
mod verdict_request;

pub use edge::{CaseContext, EdgeContext, Kept, Later, LogJudge};
pub use findings::{CaseExchange, CaseFindings};
pub use service::{Backend, ServiceInputs, ServiceTarget};
pub(crate) use service::{Reply, exposed, shown};
pub use verdict_request::{Ask, fetch_keys};
