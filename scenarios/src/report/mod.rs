//! From measurements to the report: conclusions and document. No I/O.

mod build;
mod counts;
mod digest;
mod distortion;
mod exit_code;
mod findings;
mod inputs;
mod outage;
mod own_limits;
mod routes;
mod thresholds;
mod timing;

pub use build::{build, embedded};
pub use digest::digest;
pub use distortion::{distorted, distortion, tolerance};
pub use exit_code::exit_code;
pub use inputs::ReportInputs;
pub use thresholds::judge_report;
pub use timing::{response_timing, timeline, timing};
