use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::text::units::micros;

/// Percentiles (µs).
///
/// Samples without an answer rank above all answered ones. A percentile whose rank falls on one of them is a lower bound:
/// its rank is above `count` − `unanswered`. Reports show it with `≥`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Percentiles {
    /// Number of samples.
    pub count: u64,
    /// Number of samples without an answer. If the target did not keep up, also those that waited for a connection.
    #[serde(default)]
    pub unanswered: u64,
    /// Minimum of the answered samples.
    pub min_us: u64,
    /// Mean; samples without an answer count at the age that they had.
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

/// A percentile, or the maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Quantile {
    /// The median.
    P50,
    /// The 90th percentile.
    P90,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
    /// The 99.9th percentile.
    #[strum(serialize = "p99.9")]
    P999,
    /// The maximum.
    Max,
}

impl Quantile {
    /// All of them, from the median outwards.
    pub const ALL: [Self; 6] = [Self::P50, Self::P90, Self::P95, Self::P99, Self::P999, Self::Max];

    /// The name in thresholds and reports, such as `p99.9`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The share of samples at or below it, 0 to 1.
    pub fn share(self) -> f64 {
        match self {
            Self::P50 => 0.5,
            Self::P90 => 0.9,
            Self::P95 => 0.95,
            Self::P99 => 0.99,
            Self::P999 => 0.999,
            Self::Max => 1.0,
        }
    }
}

/// A change by the generator's delay below this (µs) is not marked.
const MARKED_US: u64 = 50;
/// A change by the generator's delay below this share is not marked.
const MARKED_SHARE: f64 = 0.05;

impl Percentiles {
    /// The value (µs).
    pub fn at(&self, quantile: Quantile) -> u64 {
        match quantile {
            Quantile::P50 => self.p50_us,
            Quantile::P90 => self.p90_us,
            Quantile::P95 => self.p95_us,
            Quantile::P99 => self.p99_us,
            Quantile::P999 => self.p999_us,
            Quantile::Max => self.max_us,
        }
    }

    /// The rank, from 1, of a percentile among this many samples. `share` is 0 to 1.
    pub fn rank(share: f64, count: u64) -> u64 {
        // 0.999 × 1,000 must not become 999.0000001.
        ((share * count as f64 - 1e-6).ceil() as u64).clamp(1, count.max(1))
    }

    /// Whether a percentile is only a lower bound. `share` is 0 to 1.
    pub fn is_lower_bound(&self, share: f64) -> bool {
        self.unanswered > 0 && Self::rank(share, self.count) > self.count - self.unanswered.min(self.count)
    }

    /// Values of a table row: `12.3 ms`, or `≥ 2.00 s` for a lower bound.
    pub(crate) fn row(&self) -> [String; 6] {
        Quantile::ALL.map(|quantile| self.text(quantile))
    }

    /// One of the values as text; `–` without samples.
    pub(crate) fn text(&self, quantile: Quantile) -> String {
        if self.count == 0 {
            return "–".to_owned();
        }
        bounded(self.at(quantile), self.is_lower_bound(quantile.share()))
    }

    /// The same with a `*` where the delay of the generator changed the value: `observed` includes it.
    pub(crate) fn marked_row(&self, observed: &Self) -> [String; 6] {
        Quantile::ALL.map(|quantile| {
            let (own, text) = (self.at(quantile), self.text(quantile));
            let change = observed.at(quantile).saturating_sub(own);
            let marked = change > MARKED_US && change as f64 > own as f64 * MARKED_SHARE;
            if marked { format!("{text}*") } else { text }
        })
    }
}

/// A time as text, with `≥` for a lower bound.
pub fn bounded(us: u64, is_lower_bound: bool) -> String {
    if is_lower_bound { format!("≥ {}", micros(us)) } else { micros(us) }
}

/// A distribution of times.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Timing {
    /// Percentiles.
    pub figures: Percentiles,
    /// Percentile curve of the answered samples: shares of all samples, 0 to 1, and the times (µs) that they do not
    /// exceed. It ends below 1 if samples have no answer.
    #[serde(default)]
    pub curve: Vec<(f64, u64)>,
    /// Buckets: upper bounds (µs) and the number of answered samples between the previous bound and this one.
    #[serde(default)]
    pub distribution: Vec<(u64, u64)>,
    /// HDR histogram of all samples; those without an answer at the age that they had.
    pub histogram: String,
    /// HDR histogram of the samples without an answer; empty without any.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub unanswered_histogram: String,
}

/// Latency that the edge adds: round trips less the service's share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EdgeAdded {
    /// Times of the sampled requests.
    pub timing: Timing,
    /// Sampling interval: one of this many requests.
    pub one_of: u32,
}

/// The run in intervals of equal length. A request belongs to the interval of its intended start.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Timeline"))]
pub struct TimelineFigures {
    /// Length of an interval (ms).
    pub width_ms: u64,
    /// Intervals, from the start of the run.
    pub moments: Vec<TimelineMoment>,
}

/// An interval of the timeline.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimelineMoment {
    /// Planned operations.
    pub asked: f64,
    /// Requests with their intended start in the interval.
    pub due: u64,
    /// Requests that ended in the interval.
    pub ended: u64,
    /// Due requests with an unexpected outcome.
    pub errors: u64,
    /// Median response time of the due requests (µs), within 9 %; none if its rank falls on a request without an answer.
    pub p50_us: Option<u64>,
    /// 99th percentile of their response times (µs), within 9 %; none as above.
    pub p99_us: Option<u64>,
    /// Histogram of the response times of the answered ones: bucket n ends at 2^((n+1)/8) µs.
    pub steps: Vec<u32>,
}
