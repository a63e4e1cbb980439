use serde::{Deserialize, Serialize};

use super::clock::ClockFigures;
use crate::model::TargetKind;

/// Rule for the start of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Operations start at their intended time, whatever the target does.
    Open,
    /// A user starts an operation when its previous one ends. Measures capacity; response times mean little.
    Closed,
}

/// Target of the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoadTarget {
    /// How edgeproof reaches the edge; without an edge, the service.
    pub kind: TargetKind,
    /// Command line of a launched edge.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
    /// URL of the edge.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub edge_url: Option<String>,
    /// Base URL of the service that gives verdicts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base_url: Option<String>,
}

/// Requested load. All shards of a run have the same plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Plan"))]
pub struct PlannedLoad {
    /// Rates of the whole run, warm-up first; empty in the closed model.
    pub stages: Vec<PlanStage>,
    /// Users of all shards; each has its own connections.
    pub users: u32,
    /// Duration of the warm-up (ms).
    pub warm_up_ms: u64,
    /// Duration of the measured time (ms).
    pub measured_ms: u64,
    /// Request timeout (ms).
    pub timeout_ms: u64,
    /// Wait for open operations at the end.
    pub drain: Drain,
    /// How collections are made.
    pub seal: Seal,
    /// Share of replayed collections, 0 to 1.
    pub replay_share: f64,
    /// Seed of the run; the same for all shards.
    pub seed: u64,
    /// Further settings of the scenario, by name.
    pub settings: Vec<(String, String)>,
}

/// Wait for open operations after the last operation started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Drain {
    /// Timeout (ms).
    pub limit_ms: u64,
    /// Actual duration (ms).
    pub took_ms: u64,
}

/// A stage with a linear change of the rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanStage {
    /// Duration (ms).
    pub time_ms: u64,
    /// Operations per second at the start.
    pub from: f64,
    /// Operations per second at the end.
    pub to: f64,
}

/// How collections are made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Seal {
    /// Unique but not sealed; only a scripted service accepts them.
    #[default]
    Opaque,
    /// Sealed like a collector's.
    Real {
        /// CPU time for one collection (µs).
        cost_us: f64,
        /// Number of collections that were sealed too late and delayed a request.
        not_in_time: u64,
    },
}

/// A shard of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Shard"))]
pub struct ShardFigures {
    /// Index, from 0.
    pub index: u32,
    /// Number of shards of the run.
    pub count: u32,
    /// Start of the shard, RFC 3339 in UTC.
    pub started: String,
    /// Scheduled operations, warm-up included.
    pub scheduled: u64,
    /// Digest of the fields above and of the seed. `merge` rejects a report in which they were edited.
    #[serde(default)]
    pub digest: String,
    /// Its clock; none for a run without shards.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub clock: Option<ClockFigures>,
}
