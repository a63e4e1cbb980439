use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use edgeproof_reports::load::Ledger;
use goose::goose::Scenario;

use super::workload::LoadModel;
use crate::measure::Codes;
use crate::plan::UserCount;

/// Options of a run.
pub struct LoadRunOptions {
    /// Goose scenarios with their transactions and weights; at least one. The name of a transaction is the
    /// route of its first request.
    pub scenarios: Vec<Scenario>,
    /// How many operations start, and when.
    pub model: LoadModel,
    /// Number of users. Goose divides them among the scenarios.
    pub users: UserCount,
    /// Seed of the order of transactions. Shards have the same.
    pub seed: u64,
    /// Codes of the tables.
    pub codes: Codes,
    /// Routes by index.
    pub routes: Vec<String>,
    /// Addresses of the target, to find its processes on this machine.
    pub addresses: Vec<SocketAddr>,
    /// Request timeout.
    pub timeout: Duration,
    /// Longest wait at the end for running operations.
    pub drain: Duration,
    /// Start time (default: as soon as all users have started).
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

/// The start of a run by both clocks.
#[derive(Debug, Clone, Copy)]
pub struct StartTime {
    /// For measuring.
    pub instant: Instant,
    /// For reports.
    pub wall_clock: SystemTime,
}
