//! Runs cases on a collector in a browser.

mod options;
mod runner;
mod sanity;

pub use options::CollectorRunnerOptions;
pub use runner::CollectorRunner;
