use crate::{AddedLatency, CaseReport, Observation, Summary, TargetKind};

/// What happens in a run, in order. Reports read nothing else.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The plan stands; nothing has been sent.
    Planned {
        /// Number of cases.
        cases: usize,
        /// Version of the interface, `current` or `pre-seal`.
        spec_version: String,
        /// Digest of the tables, hexadecimal.
        spec_digest: String,
        /// How the target was come by.
        kind: TargetKind,
        /// Its command or URL; for the embedded edge, empty.
        target: String,
        /// What the bodies and the order were made from.
        seed: u64,
        /// When, RFC 3339 in UTC.
        started: String,
    },
    /// A case begins. Cases run side by side.
    Began {
        /// Its id.
        id: String,
    },
    /// A case ended. These come in the order of the plan, whatever order the cases ran in.
    Ended(Box<CaseReport>),
    /// Something that everybody should read, such as how to call the edge while it is held.
    Notice(String),
    /// A finding about the whole run, such as a stale line of the baseline, with what to do.
    Finding(String),
    /// The run is over.
    Finished {
        /// Counts.
        summary: Summary,
        /// How the target behaved at open points, each point once per behaviour, sorted.
        observations: Vec<Observation>,
        /// Latency that the edge adds, where both sides were seen.
        latency: Option<AddedLatency>,
        /// Wall time in milliseconds.
        duration_ms: u64,
        /// Exit code that follows from all this.
        exit_code: u8,
    },
}

/// A report: it is told every event in order and says at the end whether it could be written.
pub trait Reader {
    /// Takes the next event.
    fn read(&mut self, event: &Event);
    /// After the last event: writes what is to be written, whole or not at all.
    fn finish(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
