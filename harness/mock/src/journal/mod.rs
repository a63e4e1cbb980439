//! Journal of the mock service: the latest requests with their answers.

mod arrival;
mod entry;
#[expect(clippy::module_inception, reason = "the folder is named after its main type")]
mod journal;
mod observer;
mod request_head;

pub use arrival::{Arrival, ArrivalAnswer};
pub(crate) use entry::Entry;
pub use journal::RECORDED;
pub(crate) use journal::{Journal, Recording, finished};
pub use observer::Observer;
pub(crate) use request_head::RequestHead;
