use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};

use super::recorder::LoadRecorder;
use crate::measure::Codes;

/// State that all users of a run share.
#[derive(Debug)]
pub struct LoadRunContext {
    /// The recorder.
    pub recorder: LoadRecorder,
    /// Codes of the tables.
    pub codes: Codes,
    /// Request timeout.
    pub timeout: Duration,
    /// Ends running operations.
    pub stop: StopSignal,
    /// Whether each request is also reported to goose, for goose's own report.
    pub report_to_goose: bool,
    started: OnceLock<Instant>,
    ready: AtomicUsize,
    done: AtomicUsize,
    changed: Notify,
}

/// A signal that ends all running operations.
#[derive(Debug)]
pub struct StopSignal(watch::Sender<bool>);

impl LoadRunContext {
    /// The context of a run that has not started.
    pub fn new(codes: Codes, timeout: Duration, report_to_goose: bool) -> Self {
        let locals = std::thread::available_parallelism().map_or(2, usize::from) * 2;
        Self {
            recorder: LoadRecorder::new(locals),
            codes,
            timeout,
            stop: StopSignal::new(),
            report_to_goose,
            started: OnceLock::new(),
            ready: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            changed: Notify::new(),
        }
    }

    /// Starts the clock of the run. Later calls return the first start.
    pub fn start(&self) -> Instant {
        *self.started.get_or_init(Instant::now)
    }

    /// Start of the run; now, if the run has not started.
    pub fn started(&self) -> Instant {
        self.started.get().copied().unwrap_or_else(Instant::now)
    }

    /// Counts a user that is connected.
    pub fn user_ready(&self) {
        self.ready.fetch_add(1, Ordering::AcqRel);
        self.changed.notify_waiters();
    }

    /// Counts a user that is done.
    pub fn user_done(&self) {
        self.done.fetch_add(1, Ordering::AcqRel);
        self.changed.notify_waiters();
    }

    /// Waits until this many users are connected.
    pub async fn all_ready(&self, users: usize) {
        self.reached(&self.ready, users).await;
    }

    /// Waits until this many users are done.
    pub async fn all_done(&self, users: usize) {
        self.reached(&self.done, users).await;
    }

    async fn reached(&self, counter: &AtomicUsize, users: usize) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Enabled before the check, so that no change is missed.
            changed.as_mut().enable();
            if counter.load(Ordering::Acquire) >= users {
                return;
            }
            changed.await;
        }
    }
}

impl StopSignal {
    fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Sends the signal.
    pub fn trigger(&self) {
        self.0.send_replace(true);
    }

    /// Waits for the signal.
    pub async fn triggered(&self) {
        let mut receiver = self.0.subscribe();
        // The sender lives as long as `self`.
        let _ = receiver.wait_for(|triggered| *triggered).await;
    }
}
