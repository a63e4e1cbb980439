use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_http::{Peer, Request, TlsFacts};
use http::header::AUTHORIZATION;
use http::{HeaderMap, Method, Version};
use parking_lot::Mutex;
use rustls_pki_types::CertificateDer;
use tokio::sync::Notify;

use super::request_head::{PackedHead, RequestHead};
use super::{Arrival, ArrivalAnswer};
use crate::decision::holds_token;
use crate::route::ServiceEndpoint;

/// A request in the journal, and in the script that claimed it.
pub(crate) struct Entry {
    number: u64,
    endpoint: ServiceEndpoint,
    method: Method,
    version: Version,
    at: Instant,
    client_certificates: Arc<[CertificateDer<'static>]>,
    tls: Option<TlsFacts>,
    connection: u64,
    of_connection: usize,
    progress: Mutex<EntryProgress>,
}

struct EntryProgress {
    head: EntryHead,
    body: Bytes,
    body_length: u64,
    complete: bool,
    finished: bool,
    answered: Option<Instant>,
    answer: Option<Arc<ArrivalAnswer>>,
    stimulus: Option<Stimulus>,
    claimed: bool,
    /// Notification of the script that claimed the request.
    notify: Option<Arc<Notify>>,
    /// Notification of callers of [`Entry::wait_until_finished`].
    waiters: Option<Arc<Notify>>,
}

/// Target and header fields.
enum EntryHead {
    /// Shared with the recording, until the end of the request.
    Live(Arc<RequestHead>),
    Packed(PackedHead),
}

impl Entry {
    /// Entry of a request whose head arrived at `at`.
    pub(super) fn new(
        number: u64,
        endpoint: ServiceEndpoint,
        head: &Arc<RequestHead>,
        peer: &Peer,
        at: Instant,
    ) -> Arc<Self> {
        Arc::new(Self {
            number,
            endpoint,
            method: head.method.clone(),
            version: head.version,
            at,
            client_certificates: Arc::clone(&peer.certificates),
            tls: peer.tls,
            connection: peer.connection,
            of_connection: peer.count_request(),
            progress: Mutex::new(EntryProgress {
                head: EntryHead::Live(Arc::clone(head)),
                body: Bytes::new(),
                body_length: 0,
                complete: false,
                finished: false,
                answered: None,
                answer: None,
                stimulus: None,
                claimed: false,
                notify: None,
                waiters: None,
            }),
        })
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn connection(&self) -> u64 {
        self.connection
    }

    pub(crate) fn client_certificates(&self) -> &[CertificateDer<'static>] {
        &self.client_certificates
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.progress.lock().finished
    }

    pub(super) fn is_claimed(&self) -> bool {
        self.progress.lock().claimed
    }

    /// Waits for the end of the request.
    pub(crate) async fn wait_until_finished(&self) {
        let waiters = Arc::clone(self.progress.lock().waiters.get_or_insert_default());
        let mut finished = pin!(waiters.notified());
        // Enabled before the check, so that it misses no notification.
        finished.as_mut().enable();
        if !self.is_finished() {
            finished.await;
        }
    }

    /// Records that a script claimed the request.
    pub(super) fn claim(&self, notify: Arc<Notify>) {
        let mut progress = self.progress.lock();
        progress.claimed = true;
        progress.notify = Some(notify);
    }

    /// Records the answer.
    pub(super) fn record_answer(&self, answer: Arc<ArrivalAnswer>, stimulus: Option<Stimulus>) {
        let mut progress = self.progress.lock();
        if matches!(*answer, ArrivalAnswer::Answer { .. }) {
            progress.answered = Some(Instant::now());
        }
        progress.answer = Some(answer);
        progress.stimulus = stimulus;
    }

    /// Finishes the entry, and notifies the script that claimed it. False if it was finished before.
    pub(super) fn finish(&self, head: &RequestHead, body: Bytes, body_length: u64, complete: bool) -> bool {
        let notified = {
            let mut progress = self.progress.lock();
            if progress.finished {
                return false;
            }
            progress.head = EntryHead::Packed(head.pack());
            progress.body = body;
            progress.body_length = body_length;
            progress.complete = complete;
            progress.finished = true;
            [progress.notify.clone(), progress.waiters.take()]
        };
        for notify in notified.into_iter().flatten() {
            notify.notify_waiters();
        }
        true
    }

    /// Snapshot of the request and its answer.
    pub(crate) fn arrival(&self) -> Arrival {
        let progress = self.progress.lock();
        let (target, headers) = match &progress.head {
            EntryHead::Live(head) => (head.target(), head.headers.clone()),
            EntryHead::Packed(head) => (head.target(), head.headers()),
        };
        Arrival {
            number: self.number,
            endpoint: self.endpoint,
            request: Request {
                method: self.method.to_string(),
                target: target.to_owned(),
                version: self.version,
                headers: with_sensitive_tokens(headers),
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
            of_connection: self.of_connection,
        }
    }
}

/// Shows the number only: any part of a request may contain a license.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("number", &self.number).finish_non_exhaustive()
    }
}

/// The same headers. `Debug` output omits the values that contain a token.
fn with_sensitive_tokens(mut headers: HeaderMap) -> HeaderMap {
    for (name, value) in &mut headers {
        value.set_sensitive(*name == AUTHORIZATION || holds_token(value.as_bytes()));
    }
    headers
}
