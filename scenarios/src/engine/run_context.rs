use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};

use super::recorder::Recorder;
use crate::measure::Codes;

/// What all users of a run share.
#[derive(Debug)]
pub struct RunContext {
    /// Where they record.
    pub recorder: Recorder,
    /// The codes that answers may give.
    pub codes: Codes,
    /// Longest time for a request.
    pub timeout: Duration,
    /// Ends what is still under way.
    pub stop: StopSignal,
    /// Goose keeps figures of its own, and is told of each request.
    pub report_to_goose: bool,
    started: OnceLock<Instant>,
    ready: AtomicUsize,
    done: AtomicUsize,
    changed: Notify,
}

/// A word that ends everything that is under way.
#[derive(Debug)]
pub struct StopSignal(watch::Sender<bool>);

impl RunContext {
    /// One that has not started.
    pub fn new(codes: Codes, timeout: Duration, report_to_goose: bool) -> Self {
        let locals = std::thread::available_parallelism().map_or(2, usize::from) * 2;
        Self {
            recorder: Recorder::new(locals),
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

    /// From here on times are counted.
    pub fn start(&self) -> Instant {
        *self.started.get_or_init(Instant::now)
    }

    /// When it started; now, if it did not.
    pub fn started(&self) -> Instant {
        self.started.get().copied().unwrap_or_else(Instant::now)
    }

    /// A user is connected and waits for work.
    pub fn user_ready(&self) {
        self.ready.fetch_add(1, Ordering::AcqRel);
        self.changed.notify_waiters();
    }

    /// A user has nothing left to do.
    pub fn user_done(&self) {
        self.done.fetch_add(1, Ordering::AcqRel);
        self.changed.notify_waiters();
    }

    /// Waits until so many users are ready.
    pub async fn all_ready(&self, users: usize) {
        self.reached(&self.ready, users).await;
    }

    /// Waits until so many users have nothing left to do.
    pub async fn all_done(&self, users: usize) {
        self.reached(&self.done, users).await;
    }

    async fn reached(&self, counter: &AtomicUsize, users: usize) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // From here on no change is missed.
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

    /// Says it.
    pub fn trigger(&self) {
        self.0.send_replace(true);
    }

    /// Waits for it.
    pub async fn triggered(&self) {
        let mut receiver = self.0.subscribe();
        // The sender lives as long as this.
        let _ = receiver.wait_for(|triggered| *triggered).await;
    }
}
