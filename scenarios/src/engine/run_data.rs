use std::time::Duration;

use edgeproof_cli::signals::Interruption;

use super::load_run_options::StartTime;
use super::machine::SelfMonitorReading;
use super::recorder::LocalRecorder;
use crate::plan::UserCount;

/// Data of a completed run.
#[derive(Debug)]
pub struct RunData {
    /// Start of the run.
    pub start: StartTime,
    /// Time from the start to the end of the last operation.
    pub took: Duration,
    /// Time spent waiting for running operations at the end.
    pub drained: Duration,
    /// Recorded data.
    pub recorded: LocalRecorder,
    /// Operations that the pacer released.
    pub released: u64,
    /// Operations that the plan scheduled until the end.
    pub planned: u64,
    /// Number of users, and what limits it.
    pub users: UserCount,
    /// Operations that waited because no user was idle. More than 0: the users ran out.
    pub waited: u64,
    /// End of the last request that found the target gone or broken, since the start.
    pub last_outage: Option<Duration>,
    /// End of the last answered request, since the start.
    pub last_answer: Duration,
    /// Intended start of the last request without an answer, since the start.
    pub last_unanswered: Duration,
    /// Figures of the generator itself.
    pub self_monitor: SelfMonitorReading,
    /// CPU time of this process during the run, without the start of the users. Idle users of the open model end after it.
    pub cpu: Duration,
    /// The signal that ended the run early.
    pub interrupted: Option<Interruption>,
}
