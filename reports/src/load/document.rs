use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LOAD_SCHEMA;
use crate::TargetKind;
use crate::json::Tool;

/// A run of load, `edgeproof.load/1`. Others script against its fields; new ones may be added, none go. Times are in
/// microseconds where a name ends in `_us`, in milliseconds where it ends in `_ms`; a histogram is an HDR histogram of
/// microseconds in its interchange form (V2, deflated, Base64).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadReport {
    /// Always `edgeproof.load/1`.
    #[schemars(extend("const" = LOAD_SCHEMA))]
    pub schema: String,
    /// What made the report.
    pub tool: Tool,
    /// What was played, such as `edge-relay`.
    pub scenario: String,
    /// Whether operations begin when they are due, or when the one before has ended.
    pub model: Model,
    /// What was loaded.
    pub target: LoadTarget,
    /// When the run began, RFC 3339 in UTC.
    pub started: String,
    /// Wall time in milliseconds, from the first operation to the end of the last.
    pub duration_ms: u64,
    /// What can be concluded from it.
    pub state: LoadState,
    /// Why it is partial or invalid; other findings.
    pub findings: Vec<String>,
    /// 0 every threshold holds, 1 one is broken, 2 wrong command, 3 invalid or incomplete, 130 and 143 ended by a signal.
    pub exit_code: u8,
    /// What was asked for.
    pub plan: Plan,
    /// The shards that it is made of.
    pub shards: Vec<ShardOf>,
    /// Operations a second, within the measured time.
    pub rate: Rates,
    /// Where every measured operation went.
    pub ledger: Ledger,
    /// The same for the warm-up, which nothing else counts.
    pub warm_up: Ledger,
    /// From the intended start to the end, of all measured requests: also those that failed, were open in the end or never
    /// sent, at the age that they had.
    pub response: Timing,
    /// From the sending to the end.
    pub service: Timing,
    /// How late requests went out although a connection was free: the generator's own fault.
    pub lateness: Timing,
    /// How long operations waited because every connection was busy: the target's part of the response time.
    pub waiting: Timing,
    /// From the start of a session until its verdict was there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time_to_verdict: Option<Timing>,
    /// What the edge adds to the service's own time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub edge_added: Option<Added>,
    /// What the edge costs, where it was launched.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub edge_cost: Option<EdgeCost>,
    /// By route.
    pub routes: Vec<RouteFigures>,
    /// Whether the service behind counted what was sent.
    pub reconciled: Vec<Reconciled>,
    /// The run, moment by moment.
    pub timeline: Timeline,
    /// What was asked of the figures, and whether they keep it.
    pub thresholds: Vec<ThresholdResult>,
    /// What was done to the service on purpose.
    pub faults: Vec<Fault>,
    /// What the generator cost, and whether it kept up.
    pub generator: Generator,
    /// Against an earlier run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub comparison: Option<Comparison>,
}

/// When an operation begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// When it is due, whatever the target does.
    Open,
    /// When the one before of the same user has ended: for capacity; response times say little.
    Closed,
}

/// What can be concluded from a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LoadState {
    /// All of it ran, and the generator kept up.
    Complete,
    /// It ended early, or the target went away for good.
    Partial,
    /// The generator did not keep up, or counts do not agree: the figures are not those of the target.
    Invalid,
    /// It was asked not to judge whether the generator kept up.
    Unchecked,
}

/// What was loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadTarget {
    /// How the program came by the edge; for verdicts alone, by the service.
    pub kind: TargetKind,
    /// The edge's command, where one was launched.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
    /// Where the edge is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub edge_url: Option<String>,
    /// Where verdicts are fetched.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base_url: Option<String>,
}

/// What was asked for. Shards of one run have the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The rates of the whole run, warm-up first; none in the closed model.
    pub stages: Vec<PlanStage>,
    /// Users of all shards, each with its connections.
    pub users: u32,
    /// What is not measured, in milliseconds.
    pub warm_up_ms: u64,
    /// What is measured, in milliseconds.
    pub measured_ms: u64,
    /// Longest time for a request, in milliseconds.
    pub timeout_ms: u64,
    /// What happened at the end.
    pub drain: Drain,
    /// How collections are made.
    pub seal: Seal,
    /// Part of the collections that are copies, 0 to 1.
    pub replay_share: f64,
    /// What the run is made from; shards share it.
    pub seed: u64,
    /// Further settings of the scenario, by name.
    pub settings: Vec<(String, String)>,
}

/// Waiting for what is under way when the last operation has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Drain {
    /// Longest time that was allowed, in milliseconds.
    pub limit_ms: u64,
    /// Time that it took, in milliseconds.
    pub took_ms: u64,
}

/// A rate that changes evenly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStage {
    /// How long.
    pub time_ms: u64,
    /// Operations a second at its start.
    pub from: f64,
    /// And at its end.
    pub to: f64,
}

/// How collections are made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Seal {
    /// Unique and cheap; only a scripted service takes them.
    Opaque,
    /// Sealed as a collector seals them.
    Real {
        /// CPU time that one took, in microseconds.
        cost_us: f64,
        /// How many were not sealed in time, and made a request late.
        not_in_time: u64,
    },
}

/// One shard of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShardOf {
    /// Counted from 0.
    pub index: u32,
    /// How many there are.
    pub count: u32,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// Operations that it scheduled, warm-up included.
    pub scheduled: u64,
}

/// Operations a second, within the measured time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rates {
    /// As the plan wants; none in the closed model.
    pub asked: Option<f64>,
    /// Begun, whatever became of them.
    pub begun: f64,
    /// Answered as they were to be, before the load was over.
    pub delivered: f64,
}

/// Where operations went: scheduled = answered + failed + dropped + open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// To begin.
    pub scheduled: u64,
    /// Ended with an answer, whatever it said.
    pub answered: u64,
    /// Ended without one.
    pub failed: u64,
    /// Never begun: no connection was free before the end.
    pub dropped: u64,
    /// Not ended when the time to drain was over.
    pub open: u64,
    /// Of those that were answered: what came out is not what was to come out.
    #[serde(default)]
    pub unexpected: u64,
    /// Sessions that were to get a verdict and got none, whatever became of them.
    #[serde(default)]
    pub without_verdict: u64,
}

/// Percentiles, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// How many times.
    pub count: u64,
    /// The shortest.
    pub min_us: u64,
    /// The mean.
    pub mean_us: f64,
    /// Half took no longer.
    pub p50_us: u64,
    /// Nine of ten took no longer.
    pub p90_us: u64,
    /// 19 of 20 took no longer.
    pub p95_us: u64,
    /// 99 of 100 took no longer.
    pub p99_us: u64,
    /// 999 of 1,000 took no longer.
    pub p999_us: u64,
    /// The longest.
    pub max_us: u64,
}

/// Times.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// Percentiles.
    pub figures: Figures,
    /// The percentile curve: parts, 0 to 1, and the microseconds that they do not exceed.
    #[serde(default)]
    pub curve: Vec<(f64, u64)>,
    /// Where the times are: upper ends in microseconds, and how many are below them and above the one before.
    #[serde(default)]
    pub distribution: Vec<(u64, u64)>,
    /// The histogram.
    pub histogram: String,
}

/// What the edge adds: round trips less the service's own part of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Added {
    /// Of a sample of the requests.
    pub timing: Timing,
    /// One of so many was looked at.
    pub one_of: u32,
}

/// What a launched edge costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeCost {
    /// CPU seconds over the run, of it and the processes it started.
    pub cpu_s: f64,
    /// CPU seconds for 100,000 requests.
    pub cpu_s_per_100k: f64,
    /// Memory at the start, in bytes.
    pub memory_first: u64,
    /// Most memory, in bytes.
    pub memory_most: u64,
    /// Memory at the end, in bytes.
    pub memory_last: u64,
    /// Over the run.
    pub moments: Vec<EdgeMoment>,
}

/// What an edge cost at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EdgeMoment {
    /// Since the start of the run.
    pub at_ms: u64,
    /// CPU seconds until then.
    pub cpu_s: f64,
    /// Memory, in bytes.
    pub memory: u64,
}

/// What was measured on a route.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RouteFigures {
    /// Method and path, never an address.
    pub route: String,
    /// Requests that were sent, warm-up included.
    pub sent: u64,
    /// Of those, without a whole answer.
    pub unanswered: u64,
    /// Measured requests that did not come out as expected.
    pub errors: u64,
    /// Measured requests that were answered as they were to be, a second.
    pub answered_per_s: f64,
    /// From the intended start, all outcomes.
    pub response: Timing,
    /// From the sending, all outcomes.
    pub service: Timing,
    /// By outcome, the most frequent first.
    pub outcomes: Vec<OutcomeFigures>,
}

/// Measured requests that came out in one way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeFigures {
    /// Such as `409 replayed_bundle`.
    pub outcome: String,
    /// That is what was to come out.
    pub expected: bool,
    /// How many.
    pub count: u64,
    /// From the intended start.
    pub response: Timing,
    /// From the sending.
    pub service: Timing,
}

/// What the service behind counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reconciled {
    /// The route that it was sent over.
    pub route: String,
    /// Requests that were sent.
    pub sent: u64,
    /// Of those, without a whole answer.
    pub unanswered: u64,
    /// What the service counted.
    pub arrived: u64,
    /// That agrees.
    pub agrees: bool,
}

/// The run, moment by moment; requests belong to the moment in which they were due.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timeline {
    /// How long a moment is.
    pub width_ms: u64,
    /// From the start of the run on.
    pub moments: Vec<TimelineMoment>,
}

/// One moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimelineMoment {
    /// Operations that the plan wants to begin in it.
    pub asked: f64,
    /// Requests that were due in it.
    pub due: u64,
    /// Requests that ended in it.
    pub ended: u64,
    /// Of those due in it, those that did not come out as expected.
    pub errors: u64,
    /// Of those due in it, half took no longer; within 9 %.
    pub p50_us: Option<u64>,
    /// 99 of 100 took no longer; within 9 %.
    pub p99_us: Option<u64>,
    /// Response times of those due in it: step n ends at 2^((n+1)/8) microseconds.
    pub steps: Vec<u32>,
}

/// What was asked of a figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThresholdResult {
    /// Such as `p99 <= 250ms`.
    pub rule: String,
    /// The route that it is for; none for the whole run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub route: Option<String>,
    /// It is set unless another one for the same metric is given.
    pub by_default: bool,
    /// What was found, as text; none where there was nothing to judge.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub observed: Option<String>,
    /// What was found: microseconds, a part, or operations a second.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<f64>,
    /// What it was held against, in the same unit.
    pub limit: f64,
    /// How far it is within the limit, in parts of the limit; negative beyond it. None for a limit of 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub margin: Option<f64>,
    /// It is within the limit. What could not be judged is not.
    pub holds: bool,
}

/// What was done to the service on purpose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// As it was asked for.
    pub fault: String,
    /// Requests that it hit.
    pub hit: u64,
    /// When it ended, since the start of the run; none where it lasted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended_ms: Option<u64>,
    /// From its end until no request found the target gone or broken any more; none where that never came.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recovery_ms: Option<u64>,
}

/// What the generator cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Generator {
    /// CPU seconds of this process over the measured time; the embedded edge and service are part of it.
    pub cpu_s: f64,
    /// For 100,000 requests.
    pub cpu_s_per_100k: f64,
    /// Processors that it may use.
    pub processors: u32,
    /// Part of the seconds in which it used all of them.
    pub starved: f64,
    /// Memory when the measured time began, in bytes.
    pub memory_first: u64,
    /// And at its end.
    pub memory_last: u64,
    /// How late the runtime's own clock rang.
    pub lag: Timing,
}

/// Against an earlier run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The file.
    pub baseline: String,
    /// When that run began.
    pub started: String,
    /// What counts as a difference, as a part.
    pub tolerance: f64,
    /// One by one.
    pub differences: Vec<Difference>,
}

/// One figure of two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// Such as `p99`.
    pub figure: String,
    /// The earlier one.
    pub before: f64,
    /// This one.
    pub now: f64,
    /// By how much it changed, as a part of the earlier one.
    pub change: f64,
    /// How much it may change by chance alone, as a part.
    pub noise: f64,
    /// `better`, `worse`, `within noise` or `within tolerance`.
    pub verdict: String,
}

impl Ledger {
    /// Whether everything is accounted for.
    pub fn balances(&self) -> bool {
        self.scheduled == self.answered + self.failed + self.dropped + self.open
    }
}

impl Ledger {
    /// Operations that did not come to what they were to come to, or to nothing at all.
    pub fn wrong(&self) -> u64 {
        self.unexpected + self.failed + self.dropped + self.open
    }
}

impl LoadReport {
    /// Errors among the measured requests.
    pub fn errors(&self) -> u64 {
        self.routes.iter().map(|route| route.errors).sum()
    }

    /// What the exit code says, in words.
    pub fn verdict(&self) -> &'static str {
        match (self.exit_code, self.state) {
            (_, LoadState::Invalid) => "invalid: the figures are not those of the target",
            (130 | 143, _) => "ended by a signal: partial figures",
            (1, LoadState::Partial) => "a threshold is broken, and the run is partial",
            (1, _) => "a threshold is broken",
            (_, LoadState::Partial) => "partial: not all of it ran",
            (0, LoadState::Unchecked) => {
                "every threshold holds; whether the generator kept up was not judged"
            }
            (0, _) if self.thresholds.is_empty() => "done; no thresholds were set",
            (0, _) => "every threshold holds",
            _ => "incomplete",
        }
    }
}
