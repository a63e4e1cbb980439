use std::time::Duration;

use edgeproof_fixtures::spec::Profile;

use super::plan::{Baseline, Pins};
use super::report::RerunCommand;

/// How the cases of a run are executed.
#[derive(Debug)]
pub struct RunOptions {
    /// Number of cases that run at the same time.
    pub jobs: usize,
    /// Timeout of a case, added to the time that the case is known to need.
    pub case_timeout: Duration,
    /// How often each case runs; the first failure is reported.
    pub repeat: usize,
    /// Seed of the order, shown in reports.
    pub seed: u64,
    /// Start the cases in a random order.
    pub shuffle: bool,
    /// Id of the case to stop before, so that a debugger can be attached.
    pub hold: Option<String>,
    /// Recorded behaviour at open points that this run asserts.
    pub pins: Pins,
    /// The profile with which observations are compared. None: that of the interface.
    pub profile: Option<Profile>,
    /// Check first that the target can be judged, and run nothing where it cannot. Mutation runs skip this check:
    /// they need the outcome of every case.
    pub probes_sanity: bool,
    /// Play an example of each cause of failures again, alone.
    pub confirms: bool,
    /// Measure the latency that the edge adds, after the last case.
    pub latency: bool,
    /// Wait this long after the last request for requests at the service that an edge repeats late.
    pub late_arrivals: Duration,
    /// Rows of the interface that state a rule and have no case.
    pub rows_without_case: Vec<String>,
    /// Command that runs a case of this run again. None: the run was not started from a command line.
    pub rerun: Option<RerunCommand>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            jobs: 8,
            case_timeout: Duration::from_secs(10),
            repeat: 1,
            seed: 0,
            shuffle: false,
            hold: None,
            pins: Pins::default(),
            profile: None,
            probes_sanity: true,
            confirms: false,
            latency: false,
            late_arrivals: Duration::ZERO,
            rows_without_case: Vec::new(),
            rerun: None,
        }
    }
}

/// What decides the exit code besides the outcomes of the cases.
#[derive(Debug, Default)]
pub struct RunPolicy {
    /// Treat violated `should` requirements as failures.
    pub strict: bool,
    /// Treat a run in which cases lack an input as incomplete.
    pub require_all: bool,
    /// Known failures.
    pub baseline: Option<Baseline>,
}
