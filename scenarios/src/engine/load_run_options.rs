use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::workload::Workload;
use crate::measure::{Codes, OperationCounts};

/// What is played: loads side by side, each with its own operations and users.
pub struct LoadRunOptions<S> {
    /// At least one.
    pub loads: Vec<ScenarioLoad<S>>,
    /// The codes that answers may give.
    pub codes: Codes,
    /// The routes, as goose is told of them.
    pub routes: Vec<String>,
    /// Longest time for a request.
    pub timeout: Duration,
    /// Longest wait at the end for what is under way.
    pub drain: Duration,
    /// Goose's own report.
    pub goose_report: Option<PathBuf>,
    /// When it is to start; else as soon as the users are connected.
    pub start_at: Option<SystemTime>,
    /// Is told when it starts.
    pub on_start: Option<Box<dyn FnOnce(Instant) + Send>>,
    /// Is told while it goes on, twice a second.
    pub live: Option<ProgressListener>,
}

/// Is told of a run while it goes on.
pub type ProgressListener = Arc<dyn Fn(RunProgress<'_>) + Send + Sync>;

/// Where a run is.
#[derive(Debug, Clone, Copy)]
pub struct RunProgress<'a> {
    /// Since the start.
    pub at: Duration,
    /// When the last operation begins.
    pub end: Duration,
    /// What was recorded so far.
    pub measurements: &'a crate::measure::Measurements,
    /// Where measured operations went so far.
    pub ledger: &'a OperationCounts,
    /// Operations that were let begin.
    pub released: u64,
    /// Operations that a user began: the others wait for one that is free.
    pub begun: u64,
    /// It only waits for what is under way.
    pub draining: bool,
}

/// One scenario with its operations and users.
pub struct ScenarioLoad<S> {
    /// The scenario's name.
    pub name: String,
    /// What its users do.
    pub scenario: Arc<S>,
    /// Its operations.
    pub workload: Arc<Workload>,
    /// Its users.
    pub users: usize,
}

/// When a run began, by both clocks.
#[derive(Debug, Clone, Copy)]
pub struct StartTime {
    /// To measure with.
    pub instant: Instant,
    /// To tell people.
    pub wall_clock: SystemTime,
}
