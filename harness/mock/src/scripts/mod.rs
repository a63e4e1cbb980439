//! Scripts: replies that replace the mock service's own decision.

mod registry;
mod script;
mod shaped_answer;

pub use registry::Scripted;
pub(crate) use registry::{PreparedReply, Registration, Registry};
pub use script::{Action, Match, Reply, Script, When};
pub use shaped_answer::{AnswerFraming, AnswerPackets, ShapedAnswer};
