//! Runs cases on a service or a key set.

mod options;
mod part;
mod runner;
mod sanity;
mod truth;

pub use options::{ServiceLocation, ServiceRunnerOptions};
pub use part::ServicePart;
pub use runner::{ServiceLease, ServiceRunner, ServiceRunnerError};
