//! The edge under test: embedded, launched, or attached to; and addresses of whatever else is proven.

mod any;
mod attach;
mod embedded;
mod error;
mod fault_injection;
mod running;
mod setup;

pub use any::Target;
pub use attach::Attached;
pub use embedded::Embedded;
pub use error::StartError;
pub use fault_injection::FaultInjection;
pub use running::RunningEdge;
pub use setup::{ALLOWED_ORIGIN, OTHER_ALLOWED_ORIGIN, Setup};
