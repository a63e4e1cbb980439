use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_http::Request;
use edgeproof_http::{Peer, TlsFacts};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, Method, Uri, Version};
use parking_lot::Mutex;
use rustls_pki_types::CertificateDer;
use tokio::sync::Notify;

use super::{Arrival, ArrivalAnswer, Observer};
use crate::decision::holds_token;
use crate::route::ServiceEndpoint;

/// Bytes of a body that are kept.
pub const RECORDED: usize = 8 * 1024 * 1024;

/// What arrived lately: the oldest goes when there are too many, or when their bodies hold too much.
#[derive(Debug)]
pub(crate) struct Journal {
    capacity: usize,
    /// Bytes of bodies whose requests go on.
    in_flight: AtomicUsize,
    observer: Option<Observer>,
    log: Mutex<Log>,
}

/// An arrival while it goes on. Dropped before its end, because the connection ended, it is finished as it is.
pub(crate) struct Recording {
    entry: Arc<Entry>,
    journal: Weak<Journal>,
    buffer: BytesMut,
    length: u64,
    /// Bytes that count among those in flight.
    counted: usize,
    shortened: bool,
    /// The body came to its end.
    whole: bool,
}

/// An arrival in the journal, and in the script that claimed it.
pub(crate) struct Entry {
    number: u64,
    endpoint: ServiceEndpoint,
    method: Method,
    uri: Uri,
    version: Version,
    headers: HeaderMap,
    at: Instant,
    client_certificates: Arc<[CertificateDer<'static>]>,
    tls: Option<TlsFacts>,
    connection: u64,
    progress: Mutex<Progress>,
}

/// Bytes of all requests in the journal.
const KEPT: usize = 72 * 1024 * 1024;

/// Bytes of bodies whose requests go on, in all. What goes beyond is not kept.
const IN_FLIGHT: usize = 128 * 1024 * 1024;

/// Bytes of a head without fields, with what it takes to keep it.
const HEAD: usize = 1024;

#[derive(Debug, Default)]
struct Log {
    /// With the bytes that count.
    entries: VecDeque<(Arc<Entry>, usize)>,
    next: u64,
    kept: usize,
}

#[derive(Debug, Default)]
struct Progress {
    body: Bytes,
    body_length: u64,
    complete: bool,
    finished: bool,
    answered: Option<Instant>,
    answer: Option<Arc<ArrivalAnswer>>,
    stimulus: Option<Stimulus>,
    claimed: bool,
    /// Of the script that claimed it.
    notify: Option<Arc<Notify>>,
}

impl Journal {
    /// Keeps so many arrivals; at least one, for the counting.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            in_flight: AtomicUsize::new(0),
            observer: None,
            log: Mutex::default(),
        }
    }

    /// Told of every arrival when it is finished.
    pub(crate) fn observed(self, observer: Option<Observer>) -> Self {
        Self { observer, ..self }
    }

    /// Opens the entry of a request whose head was read.
    pub(crate) fn open(self: &Arc<Self>, parts: Parts, endpoint: ServiceEndpoint, peer: &Peer) -> Recording {
        let at = Instant::now();
        let head = head_size(&parts);
        let mut log = self.log.lock();
        let entry = Arc::new(Entry {
            number: log.next,
            endpoint,
            method: parts.method,
            uri: parts.uri,
            version: parts.version,
            headers: parts.headers,
            at,
            client_certificates: Arc::clone(&peer.certificates),
            tls: peer.tls,
            connection: peer.connection,
            progress: Mutex::default(),
        });
        log.next += 1;
        log.entries.push_back((Arc::clone(&entry), head));
        log.kept += head;
        log.evict(self.capacity);
        drop(log);
        let journal = Arc::downgrade(self);
        Recording {
            entry,
            journal,
            buffer: BytesMut::new(),
            length: 0,
            counted: 0,
            shortened: false,
            whole: false,
        }
    }

    /// Forgets what is in it. The numbers go on.
    pub(crate) fn clear(&self) {
        let mut log = self.log.lock();
        log.entries.clear();
        log.kept = 0;
    }

    /// The number that the next arrival gets.
    pub(crate) fn next(&self) -> u64 {
        self.log.lock().next
    }

    /// The arrivals from this number on that are still kept, in their order.
    pub(crate) fn since(&self, number: u64) -> Vec<Arrival> {
        let entries: Vec<_> = {
            let log = self.log.lock();
            let start = log.place(number);
            log.entries.range(start..).map(|(entry, _)| Arc::clone(entry)).collect()
        };
        entries.iter().map(|entry| entry.arrival()).collect()
    }
}

impl Recording {
    pub(crate) fn entry(&self) -> &Arc<Entry> {
        &self.entry
    }

    /// The body so far, as far as it is kept.
    pub(crate) fn body(&self) -> &[u8] {
        &self.buffer
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.length += chunk.len() as u64;
        let room = RECORDED - self.buffer.len();
        let part = &chunk[..chunk.len().min(room)];
        if self.shortened || part.is_empty() {
            return;
        }
        let Some(journal) = self.journal.upgrade() else { return };
        if journal.in_flight.fetch_add(part.len(), Ordering::Relaxed) + part.len() > IN_FLIGHT {
            journal.in_flight.fetch_sub(part.len(), Ordering::Relaxed);
            self.shortened = true;
            return;
        }
        self.counted += part.len();
        self.buffer.extend_from_slice(part);
    }

    /// Notes that the body came to its end.
    pub(crate) fn whole(&mut self) {
        self.whole = true;
    }

    /// There was no room for all of the body, though another time there would be.
    pub(crate) fn is_shortened(&self) -> bool {
        self.shortened
    }

    /// Notes that a script is for it.
    pub(crate) fn claim(&self, notify: Arc<Notify>) {
        let mut progress = self.entry.progress.lock();
        progress.claimed = true;
        progress.notify = Some(notify);
    }

    /// Notes what the request is given, before it is given: whoever has the answer finds it noted.
    pub(crate) fn give(&self, given: Arc<ArrivalAnswer>, stimulus: Option<Stimulus>) {
        let mut progress = self.entry.progress.lock();
        if matches!(*given, ArrivalAnswer::Answer { .. }) {
            progress.answered = Some(Instant::now());
        }
        progress.answer = Some(given);
        progress.stimulus = stimulus;
    }

    /// Ends the entry: the body ended, or broke off.
    pub(crate) fn finish(mut self, complete: bool) {
        self.end(complete);
    }

    fn end(&mut self, complete: bool) {
        let body = std::mem::take(&mut self.buffer).freeze();
        let kept = body.len();
        let notify = {
            let mut progress = self.entry.progress.lock();
            if progress.finished {
                return;
            }
            progress.body = body;
            progress.body_length = self.length;
            progress.complete = complete;
            progress.finished = true;
            progress.notify.clone()
        };
        if let Some(notify) = notify {
            notify.notify_waiters();
        }
        if let Some(journal) = self.journal.upgrade() {
            let mut log = journal.log.lock();
            let place = log.place(self.entry.number);
            journal.in_flight.fetch_sub(std::mem::take(&mut self.counted), Ordering::Relaxed);
            // It may have been evicted before its end.
            if let Some((_, counted)) =
                log.entries.get_mut(place).filter(|(entry, _)| Arc::ptr_eq(entry, &self.entry))
            {
                *counted += kept;
                log.kept += kept;
                log.evict(journal.capacity);
            }
            drop(log);
            if let Some(observer) = &journal.observer {
                observer.see(&self.entry.arrival());
            }
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.end(self.whole);
    }
}

impl Entry {
    /// Path and query; the authority for `CONNECT`, which has neither.
    pub(crate) fn target(&self) -> &str {
        match self.uri.path_and_query() {
            Some(target) => target.as_str(),
            None => self.uri.authority().map_or("", |authority| authority.as_str()),
        }
    }

    pub(crate) fn connection(&self) -> u64 {
        self.connection
    }

    pub(crate) fn query(&self) -> Option<&str> {
        self.uri.query()
    }

    pub(crate) fn method(&self) -> &Method {
        &self.method
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    pub(crate) fn client_certificates(&self) -> &[CertificateDer<'static>] {
        &self.client_certificates
    }

    pub(crate) fn version(&self) -> Version {
        self.version
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.progress.lock().finished
    }

    /// What is known of it now.
    pub(crate) fn arrival(&self) -> Arrival {
        let progress = self.progress.lock();
        Arrival {
            number: self.number,
            endpoint: self.endpoint,
            request: Request {
                method: self.method.to_string(),
                target: self.target().to_owned(),
                version: self.version,
                headers: with_tokens_hidden(&self.headers),
                body: progress.body.clone(),
                complete: progress.complete,
            },
            body_length: progress.body_length,
            at: self.at,
            answered: progress.answered,
            answer: progress.answer.as_deref().cloned(),
            finished: progress.finished,
            claimed: progress.claimed,
            stimulus: progress.stimulus,
            client_certificates: Arc::clone(&self.client_certificates),
            tls: self.tls,
            connection: self.connection,
        }
    }
}

/// A request may hold a license anywhere, which `Debug` doesn't show.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("number", &self.number).finish_non_exhaustive()
    }
}

/// The same fields; those that hold a token don't show in `Debug` output.
fn with_tokens_hidden(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    for (name, value) in &mut headers {
        value.set_sensitive(*name == AUTHORIZATION || holds_token(value.as_bytes()));
    }
    headers
}

/// Bytes that a head takes to keep, about.
fn head_size(parts: &Parts) -> usize {
    let fields = parts.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 100);
    let target = parts.uri.path_and_query().map_or(0, |target| target.as_str().len());
    HEAD + target + fields.sum::<usize>()
}

impl Log {
    /// Where the arrivals from this number on begin: the numbers follow each other without a gap.
    fn place(&self, number: u64) -> usize {
        // Counted back from the next: the oldest entry itself is long out of the processor's cache.
        let first = self.next - self.entries.len() as u64;
        usize::try_from(number.saturating_sub(first)).unwrap_or(usize::MAX).min(self.entries.len())
    }

    fn evict(&mut self, capacity: usize) {
        while self.entries.len() > capacity || (self.kept > KEPT && self.entries.len() > 1) {
            let Some((_, counted)) = self.entries.pop_front() else { return };
            self.kept -= counted;
        }
    }
}
