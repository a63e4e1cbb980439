use serde::{Deserialize, Serialize};

use super::timing::Timing;

/// CPU and memory of a launched edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EdgeMoment {
    /// Time since the start of the run (ms).
    pub at_ms: u64,
    /// CPU seconds so far.
    pub cpu_s: f64,
    /// Memory (bytes).
    pub memory: u64,
}

/// CPU, memory and delays of the generator.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Generator {
    /// CPU seconds of this process from the start to the last answer, an embedded edge and service included.
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
    /// Whether the system reports when answers arrive. Otherwise a late read counts as response time.
    #[serde(default)]
    pub late_reads_measured: bool,
    /// Who used the processors, and who waited for them.
    #[serde(default)]
    pub contention: ContentionFigures,
}

/// Who used the processors during the run, and who waited for them. 0 where the system does not report it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Contention"))]
pub struct ContentionFigures {
    /// Seconds in which threads of the generator were ready to run and waited for a processor.
    pub wait_s: f64,
    /// The same as share of the run; above 1 if several threads waited.
    pub wait_share: f64,
    /// CPU seconds of other processes, without the target's.
    pub others_s: f64,
    /// Seconds that the hypervisor gave to other machines.
    pub steal_s: f64,
    /// Seconds in which a CPU limit stopped the generator.
    pub throttled_s: f64,
    /// CPU seconds of a target on this machine.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target_cpu_s: Option<f64>,
    /// Seconds in which its threads were ready to run and waited for a processor.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub target_wait_s: Option<f64>,
}
