use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::timing::Timing;

/// CPU and memory of a launched edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeCost {
    /// CPU seconds of its process tree over the run.
    pub cpu_s: f64,
    /// CPU seconds per 100,000 requests.
    pub cpu_s_per_100k: f64,
    /// Memory at the start (bytes).
    pub memory_first: u64,
    /// Peak memory (bytes).
    pub memory_most: u64,
    /// Memory at the end (bytes).
    pub memory_last: u64,
    /// Samples over the run.
    pub moments: Vec<EdgeMoment>,
}

/// A sample of an edge's CPU and memory.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeMoment {
    /// Time since the start of the run (ms).
    pub at_ms: u64,
    /// CPU seconds so far.
    pub cpu_s: f64,
    /// Memory (bytes).
    pub memory: u64,
}

/// CPU, memory and delays of the generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Generator {
    /// CPU seconds of this process in the measured time, an embedded edge and service included.
    pub cpu_s: f64,
    /// CPU seconds per 100,000 requests.
    pub cpu_s_per_100k: f64,
    /// Available processors.
    pub processors: u32,
    /// Share of the seconds in which the process used all processors, 0 to 1.
    pub starved: f64,
    /// Memory at the start of the measured time (bytes).
    pub memory_first: u64,
    /// Memory at its end (bytes).
    pub memory_last: u64,
    /// Delay of the runtime's timers.
    pub lag: Timing,
}
