use std::sync::atomic::{AtomicU64, Ordering};

use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use crate::measure::{Measurements, OperationCounts, Outcome, Sample};

/// Where users record, in a few locals so that they rarely wait for one another. Its size does not depend on the number
/// of requests or of users.
#[derive(Debug)]
pub struct Recorder {
    locals: Vec<Mutex<LocalRecorder>>,
    /// When the last request ended that found the target gone or broken, in microseconds since the start; 0 for none.
    last_outage: AtomicU64,
    /// When the last request was answered, ditto.
    last_answer: AtomicU64,
}

/// A part of what was recorded; or all of it.
#[derive(Debug, Clone, Default)]
pub struct LocalRecorder {
    /// What was measured.
    pub measurements: Measurements,
    /// Measured operations.
    pub ledger: OperationCounts,
    /// Operations of the warm-up.
    pub warm_up: OperationCounts,
}

/// What became of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationEnd {
    /// It ended with what was to come out.
    Answered,
    /// It ended with another answer.
    Unexpected,
    /// It ended without one.
    Failed,
    /// It was never begun.
    Dropped,
    /// It had not ended when the time to drain was over.
    Open,
}

impl Recorder {
    /// One with so many locals.
    pub fn new(locals: usize) -> Self {
        Self {
            locals: (0..locals.max(1)).map(|_| Mutex::default()).collect(),
            last_outage: AtomicU64::new(0),
            last_answer: AtomicU64::new(0),
        }
    }

    /// Records a request of a user.
    pub fn request(&self, user: usize, sample: &Sample) {
        let ended = (sample.due + sample.response).as_micros() as u64;
        if !sample.expected && sample.outcome.is_outage() {
            self.last_outage.fetch_max(ended, Ordering::Relaxed);
        }
        if matches!(sample.outcome, Outcome::Answer { .. }) {
            self.last_answer.fetch_max(ended, Ordering::Relaxed);
        }
        self.local(user).measurements.record(sample);
    }

    /// Records how late an operation began: because of us, and because no connection was free.
    pub fn begun(&self, user: usize, lateness: Duration, waiting: Duration) {
        let mut local = self.local(user);
        local.measurements.lateness.record(lateness);
        local.measurements.waiting.record(waiting);
    }

    /// Records the time until a verdict was there.
    pub fn verdict(&self, user: usize, time: Duration) {
        self.local(user).measurements.verdict.record(time);
    }

    /// Records what the edge added to a request.
    pub fn added(&self, user: usize, time: Duration) {
        self.local(user).measurements.added.record(time);
    }

    /// Records that a session got no verdict.
    pub fn no_verdict(&self, user: usize) {
        self.local(user).ledger.without_verdict += 1;
    }

    /// Records what became of an operation; `late`: when the run was over already.
    pub fn operation(&self, user: usize, measured: bool, operation_end: OperationEnd, late: bool) {
        let mut local = self.local(user);
        let ledger = if measured { &mut local.ledger } else { &mut local.warm_up };
        ledger.scheduled += 1;
        match operation_end {
            OperationEnd::Answered => {
                ledger.answered += 1;
                ledger.late += u64::from(late);
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

    /// The sum of all locals.
    pub fn sum(&self) -> LocalRecorder {
        let mut sum = LocalRecorder::default();
        for local in &self.locals {
            let local = local.lock();
            sum.measurements.add(&local.measurements);
            sum.ledger.add(&local.ledger);
            sum.warm_up.add(&local.warm_up);
        }
        sum
    }

    /// When the last request ended that found the target gone or broken, since the start; none if there was none.
    pub fn last_outage(&self) -> Option<Duration> {
        Some(self.last_outage.load(Ordering::Relaxed)).filter(|at| *at > 0).map(Duration::from_micros)
    }

    /// When the last request was answered, since the start.
    pub fn last_answer(&self) -> Duration {
        Duration::from_micros(self.last_answer.load(Ordering::Relaxed))
    }

    fn local(&self, user: usize) -> MutexGuard<'_, LocalRecorder> {
        self.locals[user % self.locals.len()].lock()
    }
}
