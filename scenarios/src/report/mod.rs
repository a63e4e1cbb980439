//! From measurements to the report: conclusions and document. No I/O.

mod build;
mod distortion;
mod findings;
mod thresholds;
mod validity;

pub use build::{ReportInputs, build, digest, finish, response_timing};
