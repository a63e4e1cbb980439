//! Runs cases on a service or a key set.

mod options;
mod runner;
mod sanity;

pub use options::{ServiceLocation, ServicePart, ServiceRunnerOptions};
pub use runner::{ServiceRunner, ServiceRunnerError};
