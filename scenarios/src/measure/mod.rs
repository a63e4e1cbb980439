//! Measurements: histograms, a timeline, and outcomes; and what follows from them. No I/O.

mod compare;
mod completions;
mod cpu_contention;
mod distortion;
mod histogram;
mod judge;
mod judged_times;
mod measurements;
mod outcome;
mod response_times;
mod service_times;
mod timeline;
mod traffic;
mod validity;

pub use compare::{ComparedRun, compare};
pub use completions::Completions;
pub use cpu_contention::{CpuCause, CpuContention, TargetContention};
pub use distortion::{DistortedPercentile, MeasuredTime, ObservedTimes, Tolerance};
pub use histogram::{Histogram, HistogramError};
pub use judge::{ThresholdInputs, judge};
pub use judged_times::JudgedTimes;
pub use measurements::{LoadMeasurements, OutcomeSeries, RouteId, Sample, UserWaits};
pub use outcome::{Code, Codes, RequestFailure, RequestOutcome};
pub use response_times::{ResponseTime, ResponseTimes};
pub use service_times::{SAMPLED, ServiceTimes};
pub use timeline::{Timeline, TimelineBucket};
pub use traffic::{ConnectionSetUp, ConnectionTraffic};
pub use validity::{ValidityInputs, invalid_reasons};
