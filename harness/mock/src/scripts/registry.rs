use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use memchr::memmem::Finder;
use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;

use super::{Action, Match, Reply, Script, When};
use crate::decision::allowed_body;
use crate::journal::{Arrival, ArrivalAnswer, Entry, Recording, finished};
use crate::route::Route;

/// A registered script. Dropping it ends the script.
#[derive(Debug)]
#[must_use = "the script ends when this is dropped"]
pub struct Scripted {
    registration: Arc<Registration>,
    registry: Arc<Registry>,
}

impl Scripted {
    /// Requests that the script claimed, finished or not, in the order of the claims. It keeps the last 4,096.
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.entries().iter().map(|entry| entry.arrival()).collect()
    }

    /// Waits until the claimed requests are finished, or `limit` is over, and returns [`Self::arrivals`].
    pub async fn finished(&self, limit: Duration) -> Vec<Arrival> {
        finished(self.entries(), limit).await
    }

    fn entries(&self) -> Vec<Arc<Entry>> {
        self.registration.claims.lock().latest.iter().cloned().collect()
    }

    /// Number of claimed requests, including those whose body broke off.
    pub fn count(&self) -> usize {
        self.registration.claims.lock().count
    }

    /// Waits until `count` requests are finished or `limit` is over, and returns [`Self::arrivals`].
    pub async fn wait_for(&self, count: usize, limit: Duration) -> Vec<Arrival> {
        let enough = async {
            loop {
                let finished = self.registration.notify.notified();
                tokio::pin!(finished);
                // Enabled before the check, so that it misses no notification.
                finished.as_mut().enable();
                if self.registration.finished() >= count {
                    return;
                }
                finished.await;
            }
        };
        // After a timeout the caller sees fewer requests.
        let _ = tokio::time::timeout(limit, enough).await;
        self.arrivals()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.registry.remove(&self.registration);
    }
}

/// The scripts of a mock service.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    /// Latest script first, narrow scripts before wide ones. A change replaces the list, so that requests read it without
    /// waiting.
    scripts: RwLock<Arc<[Arc<Registration>]>>,
}

/// A script with the requests that it claimed.
#[derive(Debug)]
pub(crate) struct Registration {
    on: Match,
    /// Finds the marker of [`Match::Marker`].
    marker: Finder<'static>,
    replies: Vec<PreparedReply>,
    served: AtomicUsize,
    notify: Arc<Notify>,
    claims: Mutex<ClaimedRequests>,
}

#[derive(Debug, Default)]
struct ClaimedRequests {
    count: usize,
    latest: VecDeque<Arc<Entry>>,
}

/// A reply, with its headers and its journal entry prepared.
#[derive(Debug)]
pub(crate) struct PreparedReply {
    pub(crate) reply: Reply,
    /// Headers of an answer.
    pub(crate) headers: HeaderMap,
    /// Answer for the journal; none where the mock service decides.
    pub(crate) answer: Option<Arc<ArrivalAnswer>>,
}

/// Requests that a script keeps (maximum).
const MAX_KEPT: usize = 4096;

impl Registry {
    /// # Panics
    /// If the script has no reply, or a reply that HTTP cannot express.
    pub(crate) fn add(self: &Arc<Self>, on: Match, script: Script) -> Scripted {
        assert!(!script.replies.is_empty(), "a script needs at least one reply");
        let registration = Arc::new(Registration {
            marker: match &on {
                Match::Marker(marker) => Finder::new(marker).into_owned(),
                _ => Finder::new(b""),
            },
            on,
            replies: script.replies.into_iter().map(PreparedReply::new).collect(),
            served: AtomicUsize::new(0),
            notify: Arc::default(),
            claims: Mutex::default(),
        });
        let added = Arc::clone(&registration);
        self.replace(|scripts| {
            let narrow = scripts.iter().take_while(|script| script.is_narrow()).count();
            let place = if added.is_narrow() { 0 } else { narrow };
            let mut scripts = scripts.to_vec();
            scripts.insert(place, added);
            scripts
        });
        Scripted { registration, registry: Arc::clone(self) }
    }

    /// The current scripts.
    pub(crate) fn scripts(&self) -> Arc<[Arc<Registration>]> {
        Arc::clone(&self.scripts.read())
    }

    fn remove(&self, registration: &Arc<Registration>) {
        self.replace(|scripts| {
            scripts.iter().filter(|script| !Arc::ptr_eq(script, registration)).cloned().collect()
        });
    }

    fn replace(&self, change: impl FnOnce(&[Arc<Registration>]) -> Vec<Arc<Registration>>) {
        let mut scripts = self.scripts.write();
        let changed = change(&scripts);
        *scripts = changed.into();
    }
}

impl Registration {
    /// True if the script matches a request with this route and body. The bytes before `from` were searched before.
    pub(crate) fn matches(&self, route: &Route, body: &[u8], from: usize) -> bool {
        if matches!(self.reply_at(self.served.load(Ordering::Acquire)).reply.action, Action::Pass) {
            return false;
        }
        match (&self.on, route) {
            (Match::VerdictOf(reference), Route::Verdict(asked)) => asked.text == *reference,
            (Match::Verdicts, Route::Verdict(_))
            | (Match::KeySet, Route::KeySet)
            | (Match::Everything, Route::Relay | Route::NotFound | Route::MethodNotAllowed) => true,
            (Match::Marker(marker), Route::Relay | Route::NotFound | Route::MethodNotAllowed) => {
                // A marker may begin in the searched bytes and end in the new ones.
                let from = from.saturating_sub(marker.len().saturating_sub(1));
                self.marker.find(&body[from..]).is_some()
            }
            _ => false,
        }
    }

    fn is_narrow(&self) -> bool {
        matches!(self.on, Match::Marker(_) | Match::VerdictOf(_))
    }

    /// True if the next reply precedes the end of the body.
    pub(crate) fn is_early(&self) -> bool {
        self.reply_at(self.served.load(Ordering::Acquire)).reply.when == When::BeforeBodyEnds
    }

    /// Claims a request, and returns the reply.
    pub(crate) fn claim(&self, recording: &Recording) -> &PreparedReply {
        self.claim_without_reply(recording);
        self.reply_at(self.served.fetch_add(1, Ordering::AcqRel))
    }

    /// Claims a request that gets no reply because its body broke off.
    pub(crate) fn claim_without_reply(&self, recording: &Recording) {
        recording.claim(Arc::clone(&self.notify));
        let mut claims = self.claims.lock();
        if claims.latest.len() == MAX_KEPT {
            claims.latest.pop_front();
        }
        claims.latest.push_back(Arc::clone(recording.entry()));
        claims.count += 1;
    }

    fn finished(&self) -> usize {
        let claims = self.claims.lock();
        // Requests that it no longer keeps finished long ago.
        let dropped = claims.count - claims.latest.len();
        dropped + claims.latest.iter().filter(|entry| entry.is_finished()).count()
    }

    fn reply_at(&self, index: usize) -> &PreparedReply {
        let last = &self.replies[self.replies.len() - 1].reply.action;
        &self.replies[Script::reply_index(self.replies.len(), last, index)]
    }
}

impl PreparedReply {
    fn new(reply: Reply) -> Self {
        if let Action::Answer { status, .. } | Action::CutBody { status, .. } = &reply.action {
            let valid = StatusCode::from_u16(*status).is_ok_and(|status| !status.is_informational());
            assert!(valid, "a script's status code must be between 200 and 999, not {status}");
        }
        let headers = match &reply.action {
            Action::Answer { headers, .. } => parse(headers),
            Action::Shaped(shaped) => parse(&shaped.headers),
            _ => HeaderMap::new(),
        };
        let answer = match &reply.action {
            Action::Decide | Action::Pass | Action::Again | Action::CutDecision { .. } => None,
            Action::Answer { status, body, .. } => {
                let body = allowed_body(*status, body.clone());
                Some(ArrivalAnswer::Answer { status: *status, headers: headers.clone(), body })
            }
            Action::Shaped(shaped) => {
                let (status, body) = (shaped.status, shaped.body.clone());
                Some(ArrivalAnswer::Answer { status, headers: headers.clone(), body })
            }
            Action::RawBytes(_) => Some(ArrivalAnswer::Partial("raw bytes")),
            Action::CutBody { .. } => Some(ArrivalAnswer::Partial("body cut")),
            Action::CutHead => Some(ArrivalAnswer::Partial("head cut")),
            Action::Close => Some(ArrivalAnswer::Other("closed")),
            Action::Reset => Some(ArrivalAnswer::Other("reset")),
            Action::Silence => Some(ArrivalAnswer::Other("silence")),
        };
        Self { reply, headers, answer: answer.map(Arc::new) }
    }
}

fn parse(fields: &[(String, String)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        let name: HeaderName = name.parse().expect("a script's header names are valid");
        let value: HeaderValue = value.parse().expect("a script's header values are valid");
        headers.append(name, value);
    }
    headers
}
