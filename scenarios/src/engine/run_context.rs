use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use goose::prelude::TransactionFunction;
use tokio::sync::Notify;

use super::pacing::Pacer;
use super::recorder::{LoadRecorder, OperationEnd};
use super::workload::Workload;
use crate::measure::{Codes, RequestOutcome, RouteId, Sample};
use crate::plan::ScheduledOperation;

/// State that all users of a run share.
pub(super) struct LoadRunContext {
    /// The recorder.
    pub(super) recorder: LoadRecorder,
    /// Codes of the tables.
    pub(super) codes: Codes,
    /// Request timeout.
    pub(super) timeout: Duration,
    /// The operations.
    pub(super) workload: Workload,
    /// Releases operations and polls when they are due.
    pub(super) pacer: Pacer,
    /// Transactions of each scenario.
    pub(super) transactions: Vec<Vec<LoadTransaction>>,
    started: OnceLock<Instant>,
    ready: AtomicUsize,
    done: AtomicUsize,
    ended: AtomicU64,
    changed: Notify,
}

/// A transaction of a scenario.
#[derive(Clone)]
pub(super) struct LoadTransaction {
    /// The function that goose's documentation describes.
    pub(super) function: TransactionFunction,
    /// The route that an operation counts for if it never starts.
    pub(super) route: RouteId,
}

impl LoadRunContext {
    /// The context of a run that has not started.
    pub(super) fn new(
        codes: Codes,
        timeout: Duration,
        workload: Workload,
        transactions: Vec<Vec<LoadTransaction>>,
    ) -> io::Result<Self> {
        let locals = std::thread::available_parallelism().map_or(2, usize::from) * 2;
        Ok(Self {
            recorder: LoadRecorder::new(locals),
            codes,
            timeout,
            workload,
            pacer: Pacer::new()?,
            transactions,
            started: OnceLock::new(),
            ready: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            ended: AtomicU64::new(0),
            changed: Notify::new(),
        })
    }

    /// Starts the clock of the run. Later calls return the first start.
    pub(super) fn start(&self) -> Instant {
        *self.started.get_or_init(Instant::now)
    }

    /// Records an operation that never started, at its age. Operations time out while they wait for a user.
    pub(super) fn never_started(&self, route: RouteId, scheduled: ScheduledOperation, age: Duration) {
        let sample = Sample {
            route,
            outcome: RequestOutcome::Dropped,
            expected: false,
            due: scheduled.at,
            observed: age.min(self.timeout),
            // No answer could have come earlier: the age is a lower bound.
            delay: Duration::ZERO,
            service: Duration::ZERO,
            waited: true,
            measured: scheduled.measured,
        };
        self.recorder.request(0, &sample, None);
        let ScheduledOperation { at, measured, .. } = scheduled;
        self.recorder.operation(0, measured, OperationEnd::Dropped, at, at + age);
    }

    /// Start of the run; now, if the run has not started.
    pub(super) fn started(&self) -> Instant {
        self.started.get().copied().unwrap_or_else(Instant::now)
    }

    /// Counts a user that goose started.
    pub(super) fn user_ready(&self) {
        self.ready.fetch_add(1, Ordering::AcqRel);
        self.changed.notify_waiters();
    }

    /// Counts an operation that ended.
    pub(super) fn operation_ended(&self) {
        let ended = self.ended.fetch_add(1, Ordering::AcqRel) + 1;
        if self.workload.arrivals().is_some_and(|arrivals| ended == arrivals.count()) {
            self.changed.notify_waiters();
        }
    }

    /// Waits until all operations have ended (open model), or until this many users are done (closed model). In the open
    /// model idle users stay until the run stops: their end would count as cost of the last requests.
    pub(super) async fn all_ended(&self, users: usize) {
        match self.workload.arrivals() {
            Some(arrivals) => {
                self.until(|| self.ended.load(Ordering::Acquire) >= arrivals.count()).await;
            }
            None => self.all_done(users).await,
        }
    }

    /// Counts a user that is done.
    pub(super) fn user_done(&self) {
        self.done.fetch_add(1, Ordering::AcqRel);
        self.changed.notify_waiters();
    }

    /// Waits until this many users have started.
    pub(super) async fn all_ready(&self, users: usize) {
        self.until(|| self.ready.load(Ordering::Acquire) >= users).await;
    }

    /// Waits until this many users are done.
    pub(super) async fn all_done(&self, users: usize) {
        self.until(|| self.done.load(Ordering::Acquire) >= users).await;
    }

    async fn until(&self, reached: impl Fn() -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Enabled before the check, so that no change is missed.
            changed.as_mut().enable();
            if reached() {
                return;
            }
            changed.await;
        }
    }
}
