//! The pure decisions of the edge: request facts in, answer out. No I/O.

mod cors;
mod decide;
mod reason;
mod rules;

pub use decide::{EdgeAnswer, EdgeDecision, RelayResult, RequestFacts, conclude, decide};
pub use rules::EdgeRules;
