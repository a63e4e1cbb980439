//! The journal: the latest requests with their answers.

mod arrival;
#[expect(clippy::module_inception, reason = "the folder is named after its main file")]
mod journal;
mod observer;

pub use arrival::{Arrival, ArrivalAnswer};
pub use journal::RECORDED;
pub(crate) use journal::{Entry, Journal, Recording};
pub use observer::Observer;
