use edgeproof_reports::load::{EdgeMoment, InjectedFault, LoadTarget, PlannedLoad, ProbeFigures};

use crate::measure::{Codes, RouteId};
use crate::plan::{Arrivals, ScenarioName, Threshold};

/// Inputs of a report other than the measured data.
pub struct ReportInputs<'a> {
    /// The scenario; `None` for a mixed run.
    pub scenario: Option<ScenarioName>,
    /// Whether the run uses the open model.
    pub open: bool,
    /// The target.
    pub target: LoadTarget,
    /// The plan.
    pub plan: PlannedLoad,
    /// Index and count of the shard.
    pub shard: (u32, u32),
    /// Names of the routes, by index.
    pub routes: &'a [String],
    /// The route of verdicts, if the run has it.
    pub verdict_route: Option<String>,
    /// Codes of the tables.
    pub codes: &'a Codes,
    /// Intended start times of each workload, in the open model.
    pub arrivals: Vec<&'a Arrivals>,
    /// Thresholds, and whether each is a default.
    pub thresholds: &'a [(Threshold, bool)],
    /// Requests counted by the mock service, by route.
    pub arrived: Vec<(RouteId, u64)>,
    /// Requests sent before the run.
    pub probes: Vec<ProbeFigures>,
    /// Injected faults.
    pub faults: Vec<InjectedFault>,
    /// Samples of a launched edge.
    pub edge_samples: Vec<EdgeMoment>,
    /// Skips the check whether the generator kept up.
    pub unchecked: bool,
    /// Findings that make the run partial.
    pub partial: Vec<String>,
}
