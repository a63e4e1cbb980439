use std::time::Duration;

use edgeproof_reports::load::{Fault, LoadTarget, Plan};

use crate::engine::EdgeSample;
use crate::measure::{Codes, RouteId};
use crate::plan::{Arrivals, Threshold};

/// What a report is made from, besides what was measured.
pub struct ReportInputs<'a> {
    /// The scenario's name.
    pub scenario: &'a str,
    /// Rates are given.
    pub open: bool,
    /// What was loaded.
    pub target: LoadTarget,
    /// What was asked for.
    pub plan: Plan,
    /// Index and count of the shard.
    pub shard: (u32, u32),
    /// The routes, by their number.
    pub routes: &'a [String],
    /// The codes that answers may give.
    pub codes: &'a Codes,
    /// When operations of each workload are due, in the open model.
    pub arrivals: Vec<&'a Arrivals>,
    /// With whether each is there by default.
    pub thresholds: &'a [(Threshold, bool)],
    /// What the service behind counted, by route.
    pub arrived: Vec<(RouteId, u64)>,
    /// What was done to the service.
    pub faults: Vec<Fault>,
    /// What a launched edge cost.
    pub edge_samples: Vec<EdgeSample>,
    /// How late the generator may be.
    pub tolerance: Duration,
    /// Whether the generator kept up is not judged.
    pub unchecked: bool,
    /// The other way round: further findings that make the run partial.
    pub partial: Vec<String>,
}
