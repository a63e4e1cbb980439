use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use edgeproof_fixtures::verdict::{Confidence, Decision, Judgement};
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

use super::{NewSession, Ready};

/// The accepted sessions, and the requests that wait for their verdicts. It evicts expired verdicts, and at its capacity
/// the oldest sessions.
#[derive(Debug)]
pub(crate) struct SessionStore {
    capacity: usize,
    /// Lifetime of a verdict.
    lifetime: Duration,
    store: Mutex<Store>,
    waiting: watch::Sender<usize>,
}

/// Result of looking up a reference under a license.
#[derive(Debug, Clone)]
pub(crate) enum SessionLookup {
    /// No session with this reference.
    Unknown,
    /// Only sessions under other licenses.
    OtherLicense,
    /// No verdict yet. The time when it is ready, if known.
    Pending(Option<SystemTime>),
    /// Expired verdict.
    TooOld,
    /// Ready verdict, signed or not.
    Ready(Arc<IssuedVerdict>),
}

/// A verdict. The first request for it signs it.
#[derive(Debug)]
pub(crate) struct IssuedVerdict {
    pub(crate) at: SystemTime,
    pub(crate) judgement: Judgement,
    pub(crate) body: OnceLock<Bytes>,
}

/// A request that waits for a change of a session. It counts as waiting until this is dropped.
#[derive(Debug)]
pub(crate) struct Waiter<'a> {
    sessions: &'a SessionStore,
    reference: Arc<str>,
    changed: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Store {
    sessions: HashMap<Arc<str>, Vec<Session>>,
    /// References with the numbers of their sessions, oldest first. A later session may have replaced one.
    order: VecDeque<(Arc<str>, u64)>,
    next: u64,
    waiters: HashMap<Arc<str>, (usize, Arc<Notify>)>,
    closed: bool,
}

#[derive(Debug)]
struct Session {
    number: u64,
    license_id: Arc<str>,
    judgement: Judgement,
    readiness: Readiness,
}

#[derive(Debug)]
enum Readiness {
    At(Arc<IssuedVerdict>),
    AfterFirstPoll(Duration),
    Always,
    Never,
}

impl IssuedVerdict {
    /// An `allow` verdict of this time.
    pub(crate) fn at(at: SystemTime) -> Self {
        let judgement = Judgement { decision: Decision::Allow, confidence: Confidence::FULL };
        Self { at, judgement, body: OnceLock::new() }
    }
}

impl SessionStore {
    pub(crate) fn new(capacity: usize, lifetime: Duration) -> Self {
        let (store, waiting) = (Mutex::default(), watch::Sender::new(0));
        Self { capacity: capacity.max(1), lifetime, store, waiting }
    }

    /// Adds a session, and wakes the requests that wait for it. It replaces a session with the same reference and license.
    pub(crate) fn add(&self, session: NewSession, license_id: &str, now: SystemTime) {
        let NewSession { reference, ready, judgement, .. } = session;
        let at = |time: Option<SystemTime>| {
            let issue = |at| Readiness::At(Arc::new(IssuedVerdict { at, judgement, body: OnceLock::new() }));
            // A time that the system cannot express never comes.
            time.map_or(Readiness::Never, issue)
        };
        let readiness = match ready {
            Ready::After(span) => at(now.checked_add(span)),
            Ready::Since(span) => at(now.checked_sub(span)),
            Ready::AfterFirstPoll(span) => Readiness::AfterFirstPoll(span),
            Ready::Always => Readiness::Always,
            Ready::Never => Readiness::Never,
        };
        let mut store = self.store.lock();
        store.evict_expired(|session| self.is_expired(session, now));
        let number = store.next;
        store.next += 1;
        let reference: Arc<str> = match store.sessions.get_key_value(reference.as_str()) {
            Some((known, _)) => Arc::clone(known),
            None => reference.into(),
        };
        let of_reference = store.sessions.entry(Arc::clone(&reference)).or_default();
        of_reference.retain(|session| *session.license_id != *license_id);
        of_reference.push(Session { number, license_id: license_id.into(), judgement, readiness });
        store.order.push_back((Arc::clone(&reference), number));
        while store.order.len() > self.capacity {
            store.evict_oldest();
        }
        let waiter = store.waiters.get(&reference).map(|(_, changed)| Arc::clone(changed));
        drop(store);
        if let Some(changed) = waiter {
            changed.notify_waiters();
        }
    }

    /// Removes the sessions of all licenses with this reference.
    pub(crate) fn remove(&self, reference: &str) {
        // Its numbers in the order lead nowhere, and are evicted in their turn.
        self.store.lock().sessions.remove(reference);
    }

    /// Looks up a session. The first lookup starts the delay of [`Ready::AfterFirstPoll`].
    pub(crate) fn look(&self, reference: &str, license_id: &str, now: SystemTime) -> SessionLookup {
        let mut store = self.store.lock();
        let Some(of_reference) = store.sessions.get_mut(reference) else { return SessionLookup::Unknown };
        let Some(session) = of_reference.iter_mut().find(|session| *session.license_id == *license_id) else {
            return SessionLookup::OtherLicense;
        };
        let issued = |at| Arc::new(IssuedVerdict { at, judgement: session.judgement, body: OnceLock::new() });
        if let Readiness::AfterFirstPoll(span) = session.readiness {
            session.readiness =
                now.checked_add(span).map_or(Readiness::Never, |at| Readiness::At(issued(at)));
        }
        match &session.readiness {
            Readiness::Always => SessionLookup::Ready(issued(now)),
            Readiness::Never | Readiness::AfterFirstPoll(_) => SessionLookup::Pending(None),
            Readiness::At(issue) => match now.duration_since(issue.at) {
                Err(_) => SessionLookup::Pending(Some(issue.at)),
                Ok(age) if age > self.lifetime => SessionLookup::TooOld,
                Ok(_) => SessionLookup::Ready(Arc::clone(issue)),
            },
        }
    }

    /// Registers a waiting request. It receives every change from now on.
    pub(crate) fn wait(&self, reference: &str) -> Waiter<'_> {
        let mut store = self.store.lock();
        let known = store.waiters.get_key_value(reference).map(|(known, _)| Arc::clone(known));
        let reference = known.unwrap_or_else(|| reference.into());
        let (count, changed) =
            store.waiters.entry(Arc::clone(&reference)).or_insert_with(|| (0, Arc::default()));
        *count += 1;
        let changed = Arc::clone(changed);
        drop(store);
        self.waiting.send_modify(|waiting| *waiting += 1);
        Waiter { sessions: self, reference, changed }
    }

    /// Number of waiting requests, as a channel.
    pub(crate) fn waiting(&self) -> watch::Receiver<usize> {
        self.waiting.subscribe()
    }

    pub(crate) fn clear(&self) {
        let mut store = self.store.lock();
        store.sessions.clear();
        store.order.clear();
    }

    /// Wakes all waiting requests for good.
    pub(crate) fn close(&self) {
        let mut store = self.store.lock();
        store.closed = true;
        store.waiters.values().for_each(|(_, changed)| changed.notify_waiters());
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.store.lock().closed
    }

    fn is_expired(&self, session: &Session, now: SystemTime) -> bool {
        match &session.readiness {
            Readiness::At(issue) => now.duration_since(issue.at).is_ok_and(|age| age > self.lifetime),
            Readiness::AfterFirstPoll(_) | Readiness::Always | Readiness::Never => false,
        }
    }
}

impl Waiter<'_> {
    /// Notification of a change. Enable it before the lookup, or a change is missed.
    pub(crate) fn changed(&self) -> tokio::sync::futures::Notified<'_> {
        self.changed.notified()
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let mut store = self.sessions.store.lock();
        if let Some((count, _)) = store.waiters.get_mut(&self.reference) {
            *count -= 1;
            if *count == 0 {
                store.waiters.remove(&self.reference);
            }
        }
        drop(store);
        self.sessions.waiting.send_modify(|waiting| *waiting -= 1);
    }
}

impl Store {
    /// Evicts expired sessions, oldest first, up to the first valid one.
    fn evict_expired(&mut self, is_expired: impl Fn(&Session) -> bool) {
        while let Some((reference, number)) = self.order.front() {
            let of_reference = self.sessions.get(reference);
            let session = of_reference.and_then(|all| all.iter().find(|one| one.number == *number));
            if session.is_some_and(|session| !is_expired(session)) {
                return;
            }
            self.evict_oldest();
        }
    }

    fn evict_oldest(&mut self) {
        let Some((reference, number)) = self.order.pop_front() else { return };
        if let Some(of_reference) = self.sessions.get_mut(&reference) {
            of_reference.retain(|session| session.number != number);
            if of_reference.is_empty() {
                self.sessions.remove(&reference);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LASTS: Duration = Duration::from_secs(120);
    const START: SystemTime = SystemTime::UNIX_EPOCH;

    fn look(sessions: &SessionStore, reference: &str, license: &str, seconds: u64) -> &'static str {
        match sessions.look(reference, license, START + Duration::from_secs(seconds)) {
            SessionLookup::Unknown => "unknown",
            SessionLookup::OtherLicense => "other license",
            SessionLookup::Pending(_) => "pending",
            SessionLookup::TooOld => "too old",
            SessionLookup::Ready(_) => "ready",
        }
    }

    #[test]
    fn verdict_is_pending_then_ready_then_expired() {
        let sessions = SessionStore::new(10, LASTS);
        sessions.add(NewSession::new("r").ready(Ready::After(Duration::from_secs(5))), "l", START);
        let seen = [0, 4, 5, 125, 126].map(|seconds| look(&sessions, "r", "l", seconds));
        assert_eq!(seen, ["pending", "pending", "ready", "ready", "too old"]);
        assert_eq!(look(&sessions, "r", "m", 5), "other license");
        assert_eq!(look(&sessions, "s", "l", 5), "unknown");
        sessions.add(NewSession::new("r").ready(Ready::Never), "m", START);
        assert_eq!((look(&sessions, "r", "l", 5), look(&sessions, "r", "m", 5)), ("ready", "pending"));
    }

    #[test]
    fn readiness_sets_the_time_of_the_verdict() {
        let sessions = SessionStore::new(10, LASTS);
        for (name, ready) in [
            ("always", Ready::Always),
            ("since", Ready::Since(Duration::from_secs(100))),
            ("polled", Ready::AfterFirstPoll(Duration::from_secs(3))),
            ("beyond time", Ready::After(Duration::MAX)),
        ] {
            sessions.add(NewSession::new(name).ready(ready), "l", START + Duration::from_secs(1000));
        }
        assert_eq!([1000, 9000].map(|s| look(&sessions, "always", "l", s)), ["ready", "ready"]);
        assert_eq!(
            [1000, 1020, 1021].map(|s| look(&sessions, "since", "l", s)),
            ["ready", "ready", "too old"]
        );
        let polled = [2000, 2002, 2003, 2123, 2124].map(|s| look(&sessions, "polled", "l", s));
        assert_eq!(polled, ["pending", "pending", "ready", "ready", "too old"]);
        assert_eq!(look(&sessions, "beyond time", "l", u32::MAX.into()), "pending");
    }

    #[test]
    fn capacity_evicts_the_oldest_session() {
        let sessions = SessionStore::new(3, LASTS);
        for number in 0..10 {
            sessions.add(NewSession::new(number.to_string()), "l", START);
            sessions.add(NewSession::new("same"), "l", START);
        }
        let store = sessions.store.lock();
        assert!(store.order.len() <= 3 && store.sessions.len() <= 3);
        drop(store);
        assert_eq!(look(&sessions, "same", "l", 1), "ready");
        // An expired session goes even below the capacity.
        sessions.add(NewSession::new("late"), "l", START + Duration::from_secs(500));
        assert_eq!(sessions.store.lock().sessions.len(), 1);
        sessions.clear();
        assert_eq!(look(&sessions, "late", "l", 500), "unknown");
    }

    #[tokio::test]
    async fn waiting_request_is_counted_and_notified() {
        let sessions = SessionStore::new(3, LASTS);
        let waiter = sessions.wait("r");
        let (changed, other) = (waiter.changed(), sessions.wait("r"));
        assert_eq!(*sessions.waiting().borrow(), 2);
        sessions.add(NewSession::new("r"), "l", START);
        tokio::time::timeout(Duration::from_secs(20), changed).await.unwrap();
        drop((waiter, other));
        assert_eq!((*sessions.waiting().borrow(), sessions.store.lock().waiters.len()), (0, 0));
    }
}
