use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_http::Peer;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{Arrival, ArrivalAnswer, Entry, Observer, RequestHead};
use crate::route::ServiceEndpoint;

/// Recorded bytes of a body (maximum).
pub const RECORDED: usize = 8 * 1024 * 1024;

/// The latest requests. It evicts the oldest when there are too many, or when they hold too many bytes.
#[derive(Debug)]
pub(crate) struct Journal {
    capacity: usize,
    /// Bytes of the bodies of unfinished requests.
    in_flight: AtomicUsize,
    observer: Option<Observer>,
    log: Mutex<JournalEntries>,
}

/// Recorder of one request. Dropping it, as when the connection ends, finishes the entry.
pub(crate) struct Recording {
    entry: Arc<Entry>,
    head: Arc<RequestHead>,
    journal: Arc<Journal>,
    buffer: BytesMut,
    length: u64,
    /// Bytes of this body in [`Journal::in_flight`].
    counted: usize,
    truncated: bool,
    body_ended: bool,
}

/// Bytes of all requests in the journal (maximum).
const MAX_KEPT: usize = 72 * 1024 * 1024;

/// Bytes of the bodies of all unfinished requests (maximum). The journal truncates the bodies beyond.
const MAX_IN_FLIGHT: usize = 128 * 1024 * 1024;

#[derive(Debug, Default)]
struct JournalEntries {
    /// Entries with their bytes. Their numbers have no gap.
    entries: VecDeque<(Arc<Entry>, usize)>,
    next: u64,
    kept: usize,
}

impl Journal {
    /// A journal for this many requests, at least one. It calls the observer for each finished request.
    pub(crate) fn new(capacity: usize, observer: Option<Observer>) -> Self {
        Self { capacity: capacity.max(1), in_flight: AtomicUsize::new(0), observer, log: Mutex::default() }
    }

    /// Opens the entry of a request whose head has arrived.
    pub(crate) fn open(
        self: &Arc<Self>,
        head: RequestHead,
        endpoint: ServiceEndpoint,
        peer: &Peer,
    ) -> Recording {
        let at = Instant::now();
        let head = Arc::new(head);
        let size = head.size();
        let mut log = self.log.lock();
        let entry = Entry::new(log.next, endpoint, &head, peer, at);
        log.next += 1;
        log.entries.push_back((Arc::clone(&entry), size));
        log.kept += size;
        log.evict(self.capacity);
        drop(log);
        Recording {
            entry,
            head,
            journal: Arc::clone(self),
            buffer: BytesMut::new(),
            length: 0,
            counted: 0,
            truncated: false,
            body_ended: false,
        }
    }

    /// Deletes the entries. The numbers continue.
    pub(crate) fn clear(&self) {
        let mut log = self.log.lock();
        log.entries.clear();
        log.kept = 0;
    }

    /// Number of the next request.
    pub(crate) fn next(&self) -> u64 {
        self.log.lock().next
    }

    /// Requests from this number on, oldest first.
    pub(crate) fn since(&self, number: u64) -> Vec<Arrival> {
        self.entries_since(number).iter().map(|entry| entry.arrival()).collect()
    }

    /// Requests from this number on that no script claimed, oldest first.
    pub(crate) fn unclaimed_since(&self, number: u64) -> Vec<Arrival> {
        let entries = self.entries_since(number);
        entries.iter().filter(|entry| !entry.is_claimed()).map(|entry| entry.arrival()).collect()
    }

    /// Waits until the requests from this number on are finished, or `limit` is over, and returns them.
    pub(crate) async fn finished_since(&self, number: u64, limit: Duration) -> Vec<Arrival> {
        finished(self.entries_since(number), limit).await
    }

    fn entries_since(&self, number: u64) -> Vec<Arc<Entry>> {
        let log = self.log.lock();
        let start = log.index_of(number);
        log.entries.range(start..).map(|(entry, _)| Arc::clone(entry)).collect()
    }
}

/// Waits until the requests are finished, or `limit` is over, and returns them.
pub(crate) async fn finished(entries: Vec<Arc<Entry>>, limit: Duration) -> Vec<Arrival> {
    let all = async {
        for entry in &entries {
            entry.wait_until_finished().await;
        }
    };
    // After the timeout the caller sees which requests are unfinished.
    let _ = tokio::time::timeout(limit, all).await;
    entries.iter().map(|entry| entry.arrival()).collect()
}

impl Recording {
    pub(crate) fn entry(&self) -> &Arc<Entry> {
        &self.entry
    }

    pub(crate) fn head(&self) -> &RequestHead {
        &self.head
    }

    /// Recorded part of the body.
    pub(crate) fn body(&self) -> &[u8] {
        &self.buffer
    }

    /// Bytes of the body so far, recorded or not.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Records a chunk of the body.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.length += chunk.len() as u64;
        let room = RECORDED - self.buffer.len();
        let part = &chunk[..chunk.len().min(room)];
        if self.truncated || part.is_empty() {
            return;
        }
        let journal = &self.journal;
        if journal.in_flight.fetch_add(part.len(), Ordering::Relaxed) + part.len() > MAX_IN_FLIGHT {
            journal.in_flight.fetch_sub(part.len(), Ordering::Relaxed);
            self.truncated = true;
            return;
        }
        self.counted += part.len();
        self.buffer.extend_from_slice(part);
    }

    /// Records the end of the body.
    pub(crate) fn end_body(&mut self) {
        self.body_ended = true;
    }

    /// True if the other requests in flight left no room for the body.
    pub(crate) fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// Records that a script claimed the request.
    pub(crate) fn claim(&self, notify: Arc<Notify>) {
        self.entry.claim(notify);
    }

    /// Records the answer. Callers do so before they send it: a client with the answer finds it in the journal.
    pub(crate) fn record_answer(&self, answer: Arc<ArrivalAnswer>, stimulus: Option<Stimulus>) {
        self.entry.record_answer(answer, stimulus);
    }

    /// Finishes the entry. `complete`: the body reached its end.
    pub(crate) fn finish(mut self, complete: bool) {
        self.end(complete);
    }

    fn end(&mut self, complete: bool) {
        let body = std::mem::take(&mut self.buffer).freeze();
        let kept = body.len();
        if !self.entry.finish(&self.head, body, self.length, complete) {
            return;
        }
        let journal = &self.journal;
        let mut log = journal.log.lock();
        let index = log.index_of(self.entry.number());
        journal.in_flight.fetch_sub(std::mem::take(&mut self.counted), Ordering::Relaxed);
        // The journal may have evicted the entry before its end.
        if let Some((_, counted)) =
            log.entries.get_mut(index).filter(|(entry, _)| Arc::ptr_eq(entry, &self.entry))
        {
            *counted += kept;
            log.kept += kept;
            log.evict(journal.capacity);
        }
        drop(log);
        if let Some(observer) = &journal.observer {
            observer.notify(&self.entry.arrival());
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.end(self.body_ended);
    }
}

impl JournalEntries {
    /// Index of the first entry from this number on.
    fn index_of(&self, number: u64) -> usize {
        // Derived from `next`: reading the oldest entry would cost a cache miss.
        let first = self.next - self.entries.len() as u64;
        usize::try_from(number.saturating_sub(first)).unwrap_or(usize::MAX).min(self.entries.len())
    }

    fn evict(&mut self, capacity: usize) {
        while self.entries.len() > capacity || (self.kept > MAX_KEPT && self.entries.len() > 1) {
            let Some((_, counted)) = self.entries.pop_front() else { return };
            self.kept -= counted;
        }
    }
}
