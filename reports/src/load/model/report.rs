use serde::{Deserialize, Serialize};

use super::cost::{EdgeCost, Generator};
use super::judgement::{Comparison, Distortion, InjectedFault, ThresholdResult};
use super::plan::{LoadTarget, Model, PlannedLoad, ShardFigures};
use super::timing::{EdgeAdded, TimelineFigures, Timing};
use super::traffic::{ConnectionFigures, Ledger, ProbeFigures, Rates, Reconciled, RouteFigures};
use crate::model::{ReportedSpec, Tool};

/// Value of the field `schema` in every load report.
pub const LOAD_SCHEMA: &str = "edgeproof.load/1";

/// A load run, `edgeproof.load/1`. Scripts depend on these fields: add fields, never remove one. Times are in
/// microseconds if the name ends in `_us`, in milliseconds if it ends in `_ms`. A histogram is an HDR histogram of
/// microseconds in its interchange form (V2, deflated, Base64).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoadReport {
    /// Always `edgeproof.load/1`.
    #[cfg_attr(test, schemars(extend("const" = LOAD_SCHEMA)))]
    pub schema: String,
    /// Program that made the report.
    pub tool: Tool,
    /// Interface whose tables the run used.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spec: Option<ReportedSpec>,
    /// Name of the scenario, such as `edge-relay`.
    pub scenario: String,
    /// Open or closed model.
    pub model: Model,
    /// Target of the load.
    pub target: LoadTarget,
    /// Start of the run, RFC 3339 in UTC.
    pub started: String,
    /// Wall time (ms), from the first operation to the end of the last.
    pub duration_ms: u64,
    /// Validity of the results.
    pub state: LoadState,
    /// Reasons why the run is partial or invalid, and other findings.
    pub findings: Vec<String>,
    /// 0 all thresholds hold, 1 a threshold is broken, 2 wrong command, 3 invalid or incomplete, 130 and 143 ended by a
    /// signal.
    pub exit_code: u8,
    /// Requested load.
    pub plan: PlannedLoad,
    /// Shards whose results are in this report.
    pub shards: Vec<ShardFigures>,
    /// Operation rates in the measured time.
    pub rate: Rates,
    /// Where every measured operation went.
    pub ledger: Ledger,
    /// The same for the warm-up. All other figures exclude the warm-up.
    pub warm_up: Ledger,
    /// Response time of all measured requests, from the intended start, less the delay that the generator added. Requests
    /// without an answer (failed, timed out, open at the end, never sent) rank above all answered ones.
    pub response: Timing,
    /// Response time of the measured requests with the expected answer.
    #[serde(default)]
    pub successes: Timing,
    /// The same with the delay that the generator added.
    #[serde(default)]
    pub observed: Timing,
    /// Delay that the generator added to each measured request.
    #[serde(default)]
    pub delay: Timing,
    /// Percentiles that this delay changed noticeably.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub distorted: Vec<Distortion>,
    /// Service time: from sending the request to the end of the response.
    pub service: Timing,
    /// Lateness of requests that had a free connection: caused by the generator.
    pub lateness: Timing,
    /// Time that operations waited for a free connection: part of the response time.
    pub waiting: Timing,
    /// Time from the start of a session to its verdict, less the delay that the generator added. Sessions without a verdict
    /// rank above all others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time_to_verdict: Option<Timing>,
    /// The same with the delay that the generator added.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time_to_verdict_observed: Option<Timing>,
    /// Latency that the edge adds to the service's own time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub edge_added: Option<EdgeAdded>,
    /// CPU and memory of a launched edge.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub edge_cost: Option<EdgeCost>,
    /// Figures for each route.
    pub routes: Vec<RouteFigures>,
    /// Connections of the generator.
    #[serde(default)]
    pub connections: ConnectionFigures,
    /// Requests before the run.
    #[serde(default)]
    pub probes: Vec<ProbeFigures>,
    /// Comparison of the sent requests with the service's counts.
    pub reconciled: Vec<Reconciled>,
    /// The run in time intervals.
    pub timeline: TimelineFigures,
    /// Thresholds and their results.
    pub thresholds: Vec<ThresholdResult>,
    /// Faults injected into the service.
    pub faults: Vec<InjectedFault>,
    /// CPU, memory and delays of the generator.
    pub generator: Generator,
    /// Comparison with an earlier run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub comparison: Option<Comparison>,
}

/// Validity of a run's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LoadState {
    /// The whole plan ran, and the generator kept up.
    Complete,
    /// The run ended early, or the target became unreachable and stayed so.
    Partial,
    /// The generator did not keep up, or counts disagree: the figures do not describe the target.
    Invalid,
    /// The generator check was turned off.
    Unchecked,
}

impl LoadReport {
    /// Number of measured requests with an unexpected outcome.
    pub fn errors(&self) -> u64 {
        self.routes.iter().map(|route| route.errors).sum()
    }

    /// The shard, if this report is of one shard among several. Its thresholds are judged on the sum only.
    pub fn as_shard(&self) -> Option<&ShardFigures> {
        match &self.shards[..] {
            [shard] if shard.count > 1 => Some(shard),
            _ => None,
        }
    }

    /// Exit code and state in words.
    pub fn verdict(&self) -> &'static str {
        match (self.exit_code, self.state) {
            (_, LoadState::Invalid) => "invalid: the figures do not describe the target",
            (130 | 143, _) => "ended by a signal: partial figures",
            (1, LoadState::Partial) => "a threshold is broken, and the run is partial",
            (1, _) => "a threshold is broken",
            (_, LoadState::Partial) => "partial: the run did not complete",
            (0, _) if self.as_shard().is_some() => "one shard: `merge` judges the thresholds on the sum",
            (0, LoadState::Unchecked) => "all thresholds hold; the generator was not checked",
            (0, _) if self.thresholds.is_empty() => "done; no thresholds were set",
            (0, _) => "all thresholds hold",
            _ => "incomplete",
        }
    }
}
