use super::case::{CaseReport, Observation};
use super::cause::Cause;
use super::missing_input::MissingInput;
use super::outcome::Outcome;
use super::summary::{AddedLatency, Summary};
use super::target::TargetKind;

/// Events of a run, in order. They are the only input of a report.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The plan is complete; nothing was sent yet.
    Planned {
        /// Number of cases.
        cases: usize,
        /// Version of the interface, `current` or `pre-seal`.
        spec_version: String,
        /// Digest of the tables, hexadecimal.
        spec_digest: String,
        /// How edgeproof reaches the target.
        kind: TargetKind,
        /// Command or URL of the target; empty for the embedded edge.
        target: String,
        /// Seed of the bodies and of the order.
        seed: u64,
        /// Start of the run, RFC 3339 in UTC.
        started: String,
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
    /// A finding about the whole run and its fix, such as a stale baseline line.
    Finding(String),
    /// The run is over.
    Finished(Box<RunEnd>),
}

/// Facts about a run that are known at its end.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEnd {
    /// Counts of the cases.
    pub summary: Summary,
    /// Probable causes of the failures and warnings, the one that explains most first.
    pub causes: Vec<Cause>,
    /// Number of requests that the run sent to the target.
    pub exchange_count: u64,
    /// Behaviour of the target at open points, sorted, without duplicates.
    pub observations: Vec<Observation>,
    /// Inputs that cases lack, the one that most cases lack first.
    pub missing_inputs: Vec<MissingInput>,
    /// Latency that the edge adds; set if both sides were measured.
    pub latency: Option<AddedLatency>,
    /// Wall time (ms).
    pub duration_ms: u64,
    /// Exit code of the run.
    pub exit_code: u8,
}

/// A report: receives every event in order and writes its document at the end.
pub trait Reader {
    /// Takes the next event.
    fn read(&mut self, event: &Event);
    /// Writes the remaining output after the last event. A file is written completely or not at all.
    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
