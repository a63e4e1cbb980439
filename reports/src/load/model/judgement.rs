use serde::{Deserialize, Serialize};

/// A threshold and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ThresholdResult {
    /// The threshold as given, such as `p99<250ms`.
    pub rule: String,
    /// Its route; none for the whole run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub route: Option<String>,
    /// Whether it is a default threshold; a threshold of the user for the same metric replaces it.
    pub by_default: bool,
    /// Measured value as text; none without data.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub observed: Option<String>,
    /// Measured value: µs, a share, or operations per second.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<f64>,
    /// Whether the value is only a lower bound, because requests have no answer. Then the threshold is broken.
    #[serde(default)]
    pub at_least: bool,
    /// Limit, in the unit of `value`.
    pub limit: f64,
    /// Distance to the limit as a share of the limit, negative beyond it. None for a limit of 0 and for a
    /// lower bound.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub margin: Option<f64>,
    /// Whether the value is within the limit; false without data.
    pub holds: bool,
}

/// A fault injected into the service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InjectedFault {
    /// The fault as given on the command line.
    pub fault: String,
    /// Number of affected requests.
    pub hit: u64,
    /// End of the fault since the start of the run (ms); none if it lasted to the end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_ms: Option<u64>,
    /// Time (ms) from its end until requests no longer failed; none if they still failed at the end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recovery_ms: Option<u64>,
}

/// Comparison with an earlier run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Comparison {
    /// File of the earlier run.
    pub baseline: String,
    /// Start of the earlier run.
    pub started: String,
    /// Change that counts as a difference, as a share.
    pub tolerance: f64,
    /// Compared figures.
    pub differences: Vec<Difference>,
}

/// A figure in two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    /// Name, such as `p99`.
    pub figure: String,
    /// Value in the earlier run.
    pub before: f64,
    /// Value in this run.
    pub now: f64,
    /// Change as a share of the earlier value.
    pub change: f64,
    /// Change that chance alone explains, as a share.
    pub noise: f64,
    /// `better`, `worse`, `within noise` or `within tolerance`.
    pub verdict: String,
}

/// A percentile that the generator's own delay changed by more than 5 % and more than 50 µs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Distortion {
    /// The route; none for the whole run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub route: Option<String>,
    /// `response` or `time to verdict`.
    pub figure: String,
    /// The percentile, such as `p99.9`.
    pub percentile: String,
    /// With the delay that the generator added (µs).
    pub observed_us: u64,
    /// Without it (µs).
    pub corrected_us: u64,
    /// Whether the run is invalid because of it. Otherwise the percentile is marked.
    pub invalid: bool,
}
