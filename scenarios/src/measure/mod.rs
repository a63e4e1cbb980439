//! Measurements: histograms, a timeline, and outcomes; and what follows from them. No I/O.

mod clock;
mod completions;
mod cpu_contention;
mod histogram;
mod measurements;
mod outcome;
mod response_times;
mod service_times;
mod timeline;

pub use clock::{
    AnswerDates, ClockBound, ClockEstimate, ClockSample, ClockWindow, HttpDate, TimeRange, clock_figures,
    estimate, estimate_by_dates, wall_step,
};
pub use completions::Completions;
pub use cpu_contention::{CpuCause, CpuContention, TargetContention};
pub use histogram::{Histogram, HistogramError};
pub use measurements::{
    ConnectionTraffic, LoadMeasurements, OperationEnd, OutcomeSeries, RequestCounts, RouteId, Sample,
    UserWaits,
};
pub use outcome::{Code, Codes, ListedAnswer, RequestFailure, RequestOutcome};
pub use response_times::{JudgedTimes, ResponseTime, ResponseTimes};
pub use service_times::{SAMPLED, ServiceTimes};
pub use timeline::{Bucket, Series, Timeline};
