use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use edgeproof_reports::load::Ledger;
use parking_lot::{Mutex, MutexGuard};

use crate::measure::{Completions, ConnectionTraffic, LoadMeasurements, RequestOutcome, Sample};

/// Records measurements, in several parts so that users rarely wait for a lock. Memory does not depend on the
/// number of requests or users.
#[derive(Debug)]
pub struct LoadRecorder {
    local_recorders: Vec<Mutex<LocalRecorder>>,
    /// End of the last request that found the target gone or broken (µs since the start); 0 for none.
    last_outage: AtomicU64,
    /// End of the last answered request (µs since the start).
    last_answer: AtomicU64,
    /// Intended start of the last request without an answer (µs since the start); 0 for none.
    last_unanswered: AtomicU64,
}

/// One part of the recorded data, or the sum of all parts.
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
}

/// How late a request started that was due at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// Delay added by the generator.
    pub lateness: Duration,
    /// Time that its operation waited for a user; `None` for a later request of an operation.
    pub waited: Option<Duration>,
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationEnd {
    /// Expected answer.
    Answered,
    /// Unexpected answer.
    Unexpected,
    /// No answer.
    Failed,
    /// Never started.
    Dropped,
    /// Still running after the drain time.
    Open,
}

impl LoadRecorder {
    /// A recorder with this many parts.
    pub fn new(parts: usize) -> Self {
        Self {
            local_recorders: (0..parts.max(1)).map(|_| Mutex::default()).collect(),
            last_outage: AtomicU64::new(0),
            last_answer: AtomicU64::new(0),
            last_unanswered: AtomicU64::new(0),
        }
    }

    /// Records a request of a user. `release`: how late it started, if it was due at a time.
    pub fn request(&self, user: usize, sample: &Sample, release: Option<Release>) {
        let ended = (sample.due + sample.observed).as_micros() as u64;
        if !sample.expected && sample.outcome.is_outage() {
            self.last_outage.fetch_max(ended, Ordering::Relaxed);
        }
        match sample.outcome {
            RequestOutcome::Answer { .. } => _ = self.last_answer.fetch_max(ended, Ordering::Relaxed),
            // Its requests were answered.
            RequestOutcome::GivenUp => {}
            _ => _ = self.last_unanswered.fetch_max(sample.due.as_micros() as u64, Ordering::Relaxed),
        }
        let mut local = self.recorder_of(user);
        local.measurements.record(sample);
        if let Some(Release { lateness, waited }) = release.filter(|_| sample.measured) {
            local.measurements.lateness.record(lateness);
            if let Some(waited) = waited {
                local.measurements.waiting.record(waited);
            }
        }
    }

    /// Records a time to verdict, without the delay that the generator added and as measured. `waited`: whether the
    /// operation waited for a user.
    pub fn verdict(&self, user: usize, time: Duration, observed: Duration, waited: bool) {
        let mut local = self.recorder_of(user);
        local.measurements.verdict.record(time);
        if waited {
            local.measurements.verdict_waited.record(time);
        }
        local.measurements.verdict_observed.record(observed);
    }

    /// Records the latency that the edge added to a request.
    pub fn added(&self, user: usize, time: Duration) {
        self.recorder_of(user).measurements.added.record(time);
    }

    /// Records a session without a verdict, at its age.
    pub fn no_verdict(&self, user: usize, age: Duration) {
        let mut local = self.recorder_of(user);
        local.ledger.without_verdict += 1;
        local.measurements.no_verdict.record(age);
    }

    /// Records what a connection did since the last call.
    pub fn traffic(&self, user: usize, traffic: &ConnectionTraffic) {
        self.recorder_of(user).measurements.record_traffic(traffic);
    }

    /// Records the end of an operation. `due` and `ended` count from the start of the run.
    pub fn operation(
        &self,
        user: usize,
        measured: bool,
        operation_end: OperationEnd,
        due: Duration,
        ended: Duration,
    ) {
        let mut local = self.recorder_of(user);
        let ledger = if measured { &mut local.ledger } else { &mut local.warm_up };
        ledger.scheduled += 1;
        match operation_end {
            OperationEnd::Answered => {
                ledger.answered += 1;
                if measured {
                    local.completions.record(due, ended);
                }
            }
            OperationEnd::Unexpected => {
                ledger.answered += 1;
                ledger.unexpected += 1;
            }
            OperationEnd::Failed => ledger.failed += 1,
            OperationEnd::Dropped => ledger.dropped += 1,
            OperationEnd::Open => ledger.open += 1,
        }
    }

    /// The sum of all parts.
    pub fn sum(&self) -> LocalRecorder {
        let mut sum = LocalRecorder::default();
        for local in &self.local_recorders {
            // Copied, because users wait for the lock meanwhile: adding takes longer.
            let local = local.lock().clone();
            sum.measurements.add(&local.measurements);
            sum.ledger.add(&local.ledger);
            sum.warm_up.add(&local.warm_up);
            sum.completions.add(&local.completions);
        }
        sum
    }

    /// End of the last request that found the target gone or broken, since the start.
    pub fn last_outage(&self) -> Option<Duration> {
        Some(self.last_outage.load(Ordering::Relaxed)).filter(|at| *at > 0).map(Duration::from_micros)
    }

    /// End of the last answered request, since the start.
    pub fn last_answer(&self) -> Duration {
        Duration::from_micros(self.last_answer.load(Ordering::Relaxed))
    }

    /// Intended start of the last request without an answer, since the start.
    pub fn last_unanswered(&self) -> Duration {
        Duration::from_micros(self.last_unanswered.load(Ordering::Relaxed))
    }

    fn recorder_of(&self, user: usize) -> MutexGuard<'_, LocalRecorder> {
        self.local_recorders[user % self.local_recorders.len()].lock()
    }
}
