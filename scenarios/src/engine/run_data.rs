use std::time::Duration;

use edgeproof::cli::signals::Interruption;

use super::load_run_options::StartTime;
use super::recorder::LocalRecorder;
use super::self_monitor::SelfMonitorReading;

/// A run that is over.
#[derive(Debug)]
pub struct RunData {
    /// When it began.
    pub start: StartTime,
    /// From the start to the end of the last operation.
    pub took: Duration,
    /// How long it waited at the end for what was under way.
    pub drained: Duration,
    /// What was recorded.
    pub recorded: LocalRecorder,
    /// Operations that were let begin.
    pub released: u64,
    /// Operations that the plan wanted until the run ended.
    pub planned: u64,
    /// When the last request ended that found the target gone or broken.
    pub last_outage: Option<Duration>,
    /// When the last request was answered.
    pub last_answer: Duration,
    /// What the generator cost.
    pub self_monitor: SelfMonitorReading,
    /// CPU time of the process over the run.
    pub cpu: Duration,
    /// What ended it early.
    pub interrupted: Option<Interruption>,
}
