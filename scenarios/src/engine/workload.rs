use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use crate::plan::{Arrivals, ScheduledOperation};

/// The operations of one scenario. Users take them when they are due (open model), or as soon as they are
/// free (closed model).
#[derive(Debug)]
pub struct Workload {
    kind: Kind,
    started: OnceLock<Instant>,
    /// One permit per due operation, and `WAKE_ALL` at the end.
    due: Semaphore,
    released: AtomicU64,
    taken: AtomicU64,
}

#[derive(Debug)]
enum Kind {
    Open(Arrivals),
    /// `time` includes the warm-up.
    Closed {
        time: Duration,
        warm_up: Duration,
    },
}

/// An operation that a user may start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operation {
    /// The plan of the operation.
    pub scheduled: ScheduledOperation,
    /// Whether a rate is given: then times count from the intended start.
    pub paced: bool,
}

/// Permits that wake all waiting users at the end.
const WAKE_ALL: usize = 1 << 24;

impl Workload {
    /// Operations of the open model.
    pub fn open(arrivals: Arrivals) -> Self {
        Self::new(Kind::Open(arrivals))
    }

    /// Operations of the closed model: as many as the users manage.
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

    /// Intended start times; `None` in the closed model.
    pub fn arrivals(&self) -> Option<&Arrivals> {
        match &self.kind {
            Kind::Open(arrivals) => Some(arrivals),
            Kind::Closed { .. } => None,
        }
    }

    /// Time after which no operation starts, since the start.
    pub fn end(&self) -> Duration {
        match &self.kind {
            Kind::Open(arrivals) => arrivals.end(),
            Kind::Closed { time, .. } => *time,
        }
    }

    /// Number of released and of started operations.
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

    /// Releases operations until the last one, or until `stop` is closed. Blocks; in the open model it needs
    /// its own thread.
    ///
    /// A thread is more precise than a task: the system wakes it within 0.1 ms, the runtime's timer within 1
    /// ms at best. A slow user must not delay the pacer.
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

    /// The next operation for a free user; `None` at the end.
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

    /// Indices of released operations that no user has taken yet.
    pub fn untaken(&self) -> std::ops::Range<u64> {
        let (released, taken) = self.counts();
        taken..released
    }
}
