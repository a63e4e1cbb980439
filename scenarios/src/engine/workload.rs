use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use crate::plan::{Arrivals, ScheduledOperation};

/// Operations of one scenario, handed to its users: when they are due, or as soon as a user is free.
#[derive(Debug)]
pub struct Workload {
    kind: Kind,
    started: OnceLock<Instant>,
    /// One permit for each operation that is due; more of them than operations at the end.
    due: Semaphore,
    released: AtomicU64,
    taken: AtomicU64,
}

#[derive(Debug)]
enum Kind {
    Open(Arrivals),
    /// For so long after the start; what begins in the first part of it is not measured.
    Closed {
        time: Duration,
        warm_up: Duration,
    },
}

/// An operation that a user may begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operation {
    /// What is to begin.
    pub scheduled: ScheduledOperation,
    /// Rates are given: then it counts from when it was due.
    pub paced: bool,
}

/// At the end users are woken that wait for an operation that never comes.
const WAKE_ALL: usize = 1 << 24;

impl Workload {
    /// Operations that are due at certain times.
    pub fn open(arrivals: Arrivals) -> Self {
        Self::new(Kind::Open(arrivals))
    }

    /// As many operations as the users manage in this time.
    pub fn closed(time: Duration, warm_up: Duration) -> Self {
        Self::new(Kind::Closed { time: time + warm_up, warm_up })
    }

    fn new(kind: Kind) -> Self {
        Self {
            kind,
            started: OnceLock::new(),
            due: Semaphore::new(0),
            released: AtomicU64::new(0),
            taken: AtomicU64::new(0),
        }
    }

    /// When operations are due, in the open model.
    pub fn arrivals(&self) -> Option<&Arrivals> {
        match &self.kind {
            Kind::Open(arrivals) => Some(arrivals),
            Kind::Closed { .. } => None,
        }
    }

    /// When the last operation begins, since the start.
    pub fn end(&self) -> Duration {
        match &self.kind {
            Kind::Open(arrivals) => arrivals.end(),
            Kind::Closed { time, .. } => *time,
        }
    }

    /// Operations that were let begin, and operations that users began.
    pub fn counts(&self) -> (u64, u64) {
        let taken = self.taken.load(Ordering::Acquire);
        match &self.kind {
            Kind::Open(_) => {
                let released = self.released.load(Ordering::Acquire);
                (released, taken.min(released))
            }
            Kind::Closed { .. } => (taken, taken),
        }
    }

    /// Lets operations begin from now on; of the open model, on a thread of its own, until all have or `stop` is gone or
    /// says so. Returns when that is over.
    ///
    /// A thread and not a task: the system wakes it within 0.1 ms, the runtime's timers only within 1 ms and when the
    /// runtime is not busy, and a pacer must not be late because a user is slow.
    pub fn pace(&self, started: Instant, stop: &Receiver<()>) {
        let _ = self.started.set(started);
        let Kind::Open(arrivals) = &self.kind else {
            self.due.add_permits(WAKE_ALL);
            return;
        };
        let count = arrivals.count();
        let mut released = 0;
        while released < count {
            let elapsed = started.elapsed();
            let before = released;
            while released < count && arrivals.get(released).at <= elapsed {
                released += 1;
            }
            if released > before {
                self.released.store(released, Ordering::Release);
                self.due.add_permits((released - before) as usize);
                continue;
            }
            let wait = arrivals.get(released).at.saturating_sub(started.elapsed());
            match stop.recv_timeout(wait) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.due.add_permits(WAKE_ALL);
    }

    /// The next operation for a user that is free; none when there is none left.
    pub async fn next(&self) -> Option<Operation> {
        match &self.kind {
            Kind::Open(arrivals) => {
                self.due.acquire().await.ok()?.forget();
                let place = self.taken.fetch_add(1, Ordering::AcqRel);
                if place >= self.released.load(Ordering::Acquire) {
                    return None;
                }
                Some(Operation { scheduled: arrivals.get(place), paced: true })
            }
            Kind::Closed { time, warm_up } => {
                let started = if let Some(started) = self.started.get() {
                    *started
                } else {
                    self.due.acquire().await.ok()?.forget();
                    *self.started.get()?
                };
                let at = started.elapsed();
                if at >= *time {
                    return None;
                }
                let number = self.taken.fetch_add(1, Ordering::AcqRel);
                Some(Operation {
                    scheduled: ScheduledOperation { number, at, measured: at >= *warm_up },
                    paced: false,
                })
            }
        }
    }

    /// The operations that were let begin and that nobody took, so far.
    pub fn untaken(&self) -> std::ops::Range<u64> {
        let (released, taken) = self.counts();
        taken..released
    }
}
