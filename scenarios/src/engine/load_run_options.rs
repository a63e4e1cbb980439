use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use edgeproof_reports::load::Ledger;

use super::workload::Workload;
use crate::measure::Codes;

/// Options of a run.
pub struct LoadRunOptions<S> {
    /// Scenarios that run in parallel; at least one.
    pub loads: Vec<ScenarioLoad<S>>,
    /// Codes of the tables.
    pub codes: Codes,
    /// Routes by index, for goose's report.
    pub routes: Vec<String>,
    /// Request timeout.
    pub timeout: Duration,
    /// Longest wait at the end for running operations.
    pub drain: Duration,
    /// Path of goose's own report.
    pub goose_report: Option<PathBuf>,
    /// Start time (default: as soon as all users are connected).
    pub start_at: Option<SystemTime>,
    /// Called once at the start.
    pub on_start: Option<Box<dyn FnOnce(Instant) + Send>>,
    /// Called twice a second during the run.
    pub live: Option<ProgressListener>,
}

/// A callback for the progress of a run.
pub type ProgressListener = Arc<dyn Fn(RunProgress<'_>) + Send + Sync>;

/// The progress of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunProgress<'a> {
    /// Time since the start.
    pub at: Duration,
    /// End of the last stage, since the start.
    pub end: Duration,
    /// Planned operations per second at this time; `None` in the closed model.
    pub asked: Option<f64>,
    /// Measurements so far.
    pub measurements: &'a crate::measure::LoadMeasurements,
    /// Counts of measured operations so far.
    pub ledger: &'a Ledger,
    /// Counts of warm-up operations so far.
    pub warm_up: &'a Ledger,
    /// Operations that the pacer released.
    pub released: u64,
    /// Operations that users started; the others wait for a free user.
    pub begun: u64,
    /// Whether the run only waits for running operations.
    pub draining: bool,
}

impl RunProgress<'_> {
    /// Operations that wait for a free user.
    pub fn waiting(&self) -> u64 {
        self.released.saturating_sub(self.begun)
    }

    /// Operations that run.
    pub fn in_flight(&self) -> u64 {
        // Dropped operations never began.
        let ended = |ledger: &Ledger| ledger.accounted() - ledger.dropped;
        self.begun.saturating_sub(ended(self.ledger) + ended(self.warm_up))
    }
}

/// A scenario with its workload and users.
pub struct ScenarioLoad<S> {
    /// Name of the scenario.
    pub name: String,
    /// The scenario.
    pub scenario: Arc<S>,
    /// Its operations.
    pub workload: Arc<Workload>,
    /// Number of users.
    pub users: usize,
}

/// The start of a run by both clocks.
#[derive(Debug, Clone, Copy)]
pub struct StartTime {
    /// For measuring.
    pub instant: Instant,
    /// For reports.
    pub wall_clock: SystemTime,
}
