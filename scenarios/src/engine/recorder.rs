use std::time::Duration;

use edgeproof_reports::load::Ledger;
use parking_lot::{Mutex, MutexGuard};

use crate::measure::{Completions, LoadMeasurements, RequestOutcome, Sample};

/// Records measurements, in several parts so that users rarely wait for a lock. Memory does not depend on the
/// number of requests or users.
#[derive(Debug)]
pub struct LoadRecorder(Vec<Mutex<LocalRecorder>>);

/// One part of the recorded data, or the sum of all parts. Times count from the start of the run.
#[derive(Debug, Clone, Default)]
pub struct LocalRecorder {
    /// Measurements.
    pub measurements: LoadMeasurements,
    /// Counts of measured operations.
    pub ledger: Ledger,
    /// Counts of warm-up operations.
    pub warm_up: Ledger,
    /// Measured operations that were answered as expected.
    pub completions: Completions,
    /// End of the last request that found the target gone or broken; zero for none.
    pub last_outage: Duration,
    /// End of the last answered request.
    pub last_answer: Duration,
    /// Intended start of the last request without an answer; zero for none.
    pub last_unanswered: Duration,
}

/// The outcome of an operation, and whether it is the expected one.
pub type OperationEnd = (RequestOutcome, bool);

impl LoadRecorder {
    /// A recorder with this many parts.
    pub fn new(parts: usize) -> Self {
        Self((0..parts.max(1)).map(|_| Mutex::default()).collect())
    }

    /// The part of a user.
    pub fn of(&self, user: usize) -> MutexGuard<'_, LocalRecorder> {
        self.0[user % self.0.len()].lock()
    }

    /// The sum of all parts.
    pub fn sum(&self) -> LocalRecorder {
        let mut sum = LocalRecorder::default();
        for local in &self.0 {
            // Copied, because users wait for the lock meanwhile: adding takes longer.
            let local = local.lock().clone();
            sum.measurements.add(&local.measurements);
            sum.ledger.add(&local.ledger);
            sum.warm_up.add(&local.warm_up);
            sum.completions.add(&local.completions);
            sum.last_outage = sum.last_outage.max(local.last_outage);
            sum.last_answer = sum.last_answer.max(local.last_answer);
            sum.last_unanswered = sum.last_unanswered.max(local.last_unanswered);
        }
        sum
    }
}

impl LocalRecorder {
    /// Records a request.
    pub fn request(&mut self, sample: &Sample) {
        let ended = sample.due + sample.observed;
        if !sample.expected && sample.outcome.is_outage() {
            self.last_outage = self.last_outage.max(ended);
        }
        match sample.outcome {
            RequestOutcome::Answer { .. } => self.last_answer = self.last_answer.max(ended),
            // Its requests were answered.
            RequestOutcome::GivenUp => {}
            _ => self.last_unanswered = self.last_unanswered.max(sample.due),
        }
        self.measurements.record(sample);
    }

    /// Records the end of an operation. `due` and `ended` count from the start of the run.
    pub fn operation(&mut self, measured: bool, end: OperationEnd, due: Duration, ended: Duration) {
        let ledger = if measured { &mut self.ledger } else { &mut self.warm_up };
        ledger.scheduled += 1;
        match end {
            (RequestOutcome::Answer { .. } | RequestOutcome::GivenUp, expected) => {
                ledger.answered += 1;
                ledger.unexpected += u64::from(!expected);
                if expected && measured {
                    self.completions.record(due, ended);
                }
            }
            (RequestOutcome::Failed(_), _) => ledger.failed += 1,
            (RequestOutcome::Dropped, _) => ledger.dropped += 1,
            (RequestOutcome::Open, _) => ledger.open += 1,
        }
    }
}
