use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_http::{Peer, Request, TlsFacts};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, Method, Uri, Version};
use parking_lot::Mutex;
use rustls_pki_types::CertificateDer;
use tokio::sync::Notify;

use super::{Arrival, ArrivalAnswer};
use crate::decision::holds_token;
use crate::route::ServiceEndpoint;

/// A request in the journal, and in the script that claimed it.
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
    progress: Mutex<EntryProgress>,
}

#[derive(Debug, Default)]
struct EntryProgress {
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

impl Entry {
    /// Entry of a request whose head arrived at `at`.
    pub(super) fn new(
        number: u64,
        endpoint: ServiceEndpoint,
        parts: Parts,
        peer: &Peer,
        at: Instant,
    ) -> Arc<Self> {
        Arc::new(Self {
            number,
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
        })
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

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
    pub(super) fn finish(&self, body: Bytes, body_length: u64, complete: bool) -> bool {
        let notified = {
            let mut progress = self.progress.lock();
            if progress.finished {
                return false;
            }
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
        Arrival {
            number: self.number,
            endpoint: self.endpoint,
            request: Request {
                method: self.method.to_string(),
                target: self.target().to_owned(),
                version: self.version,
                headers: with_sensitive_tokens(&self.headers),
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

/// Shows the number only: any part of a request may contain a license.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("number", &self.number).finish_non_exhaustive()
    }
}

/// The same headers. `Debug` output omits the values that contain a token.
fn with_sensitive_tokens(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    for (name, value) in &mut headers {
        value.set_sensitive(*name == AUTHORIZATION || holds_token(value.as_bytes()));
    }
    headers
}
