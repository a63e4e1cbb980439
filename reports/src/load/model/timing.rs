use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Percentiles (µs).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentiles {
    /// Number of samples.
    pub count: u64,
    /// Minimum.
    pub min_us: u64,
    /// Mean.
    pub mean_us: f64,
    /// Median.
    pub p50_us: u64,
    /// 90th percentile.
    pub p90_us: u64,
    /// 95th percentile.
    pub p95_us: u64,
    /// 99th percentile.
    pub p99_us: u64,
    /// 99.9th percentile.
    pub p999_us: u64,
    /// Maximum.
    pub max_us: u64,
}

impl Percentiles {
    /// Names of the values in a table.
    pub(crate) const COLUMNS: [&str; 6] = ["p50", "p90", "p95", "p99", "p99.9", "max"];

    /// Values of a table row.
    pub(crate) fn row(&self) -> [u64; 6] {
        [self.p50_us, self.p90_us, self.p95_us, self.p99_us, self.p999_us, self.max_us]
    }
}

/// A distribution of times.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// Percentiles.
    pub figures: Percentiles,
    /// Percentile curve: shares, 0 to 1, and the times (µs) that they do not exceed.
    #[serde(default)]
    pub curve: Vec<(f64, u64)>,
    /// Buckets: upper bounds (µs) and the number of samples between the previous bound and this one.
    #[serde(default)]
    pub distribution: Vec<(u64, u64)>,
    /// HDR histogram.
    pub histogram: String,
}

/// Latency that the edge adds: round trips less the service's share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeAdded {
    /// Times of the sampled requests.
    pub timing: Timing,
    /// Sampling interval: one of this many requests.
    pub one_of: u32,
}

/// The run in intervals of equal length. A request belongs to the interval of its intended start.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Timeline")]
pub struct TimelineFigures {
    /// Length of an interval (ms).
    pub width_ms: u64,
    /// Intervals, from the start of the run.
    pub moments: Vec<TimelineMoment>,
}

/// An interval of the timeline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineMoment {
    /// Planned operations.
    pub asked: f64,
    /// Requests with their intended start in the interval.
    pub due: u64,
    /// Requests that ended in the interval.
    pub ended: u64,
    /// Due requests with an unexpected outcome.
    pub errors: u64,
    /// Median response time of the due requests (µs), within 9 %.
    pub p50_us: Option<u64>,
    /// 99th percentile of their response times (µs), within 9 %.
    pub p99_us: Option<u64>,
    /// Histogram of their response times: bucket n ends at 2^((n+1)/8) µs.
    pub steps: Vec<u32>,
}
