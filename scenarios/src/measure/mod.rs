//! Measurements: histograms, a timeline, and outcomes; and what follows from them. No I/O.

mod compare;
mod cpu_contention;
mod distortion;
mod histogram;
mod judge;
mod measurements;
mod outcome;
mod service_times;
mod timeline;
mod validity;

pub use compare::{ComparedRun, compare};
pub use cpu_contention::{CpuCause, CpuContention, TargetContention};
pub use distortion::{DistortedPercentile, MeasuredTime, ObservedTimes};
pub use histogram::{Histogram, HistogramError};
pub use judge::{ThresholdInputs, judge};
pub use measurements::{LoadMeasurements, OutcomeSeries, RouteId, Sample};
pub use outcome::{Code, Codes, RequestFailure, RequestOutcome};
pub use service_times::{SAMPLED, ServiceTimes};
pub use timeline::{Timeline, TimelineBucket};
pub use validity::{ValidityInputs, invalid_reasons};
