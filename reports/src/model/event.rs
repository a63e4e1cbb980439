use super::case::CaseReport;
use super::outcome::Outcome;
use super::release_version::ReleaseVersion;
use super::report::{Report, ReportedSpec};
use super::target::ReportedTarget;

/// Events of a run, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The plan is complete; nothing was sent yet.
    Planned {
        /// Number of cases.
        cases: usize,
        /// Interface under test.
        spec: ReportedSpec,
        /// Target of the run.
        target: ReportedTarget,
        /// Seed of the bodies and of the order.
        seed: u64,
        /// Version of edgeproof whose cases are played, if not all are.
        cases_of: Option<ReleaseVersion>,
    },
    /// A case starts. Cases run concurrently.
    Began {
        /// Id of the case.
        id: String,
        /// Tested behaviour in one line.
        title: String,
    },
    /// A case is complete. These events follow the order of execution.
    Completed {
        /// Id of the case.
        id: String,
        /// Result; the baseline can still change it.
        outcome: Outcome,
    },
    /// Time passes. Sent several times a second while cases run, so that progress is redrawn.
    Tick,
    /// The report of a case. These events follow the order of the plan, not the order of execution.
    Ended(Box<CaseReport>),
    /// A message for the user, such as the URL of a held edge.
    Notice(String),
    /// The run is over.
    Finished(Box<Report>),
}

/// Receives every event in order and writes its output at the end.
pub trait Reader {
    /// Takes the next event.
    fn read(&mut self, event: &Event);
    /// Writes the remaining output after the last event. A file is written completely or not at all.
    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
