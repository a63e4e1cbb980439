//! The edge under test: embedded, launched, or attached to; and addresses of whatever else is proven.

mod any;
mod attach;
mod embedded;
mod error;
mod running;
mod setup;

pub use any::Target;
pub use attach::Attached;
pub use embedded::{Embedded, Twist};
pub use error::StartError;
pub use running::RunningEdge;
pub use setup::{ALLOWED_ORIGIN, OTHER_ALLOWED_ORIGIN, Setup};
