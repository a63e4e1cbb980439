use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;

use super::recording::Recording;

/// What is known about an open page. The connection writes it, [`Page`](super::Page) reads it.
#[derive(Debug)]
pub(super) struct PageState {
    recording: Mutex<Recording>,
    phase: watch::Sender<Phase>,
    /// Session of the page itself.
    main: watch::Sender<Option<String>>,
    /// Sessions of the page and of everything that it started.
    sessions: Mutex<Vec<String>>,
    /// Number of bodies that Chromium was asked for.
    awaited_bodies: watch::Sender<usize>,
    gone: watch::Sender<Option<String>>,
}

/// Progress of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Empty page.
    Blank,
    /// The navigation began.
    Navigating,
    /// The document is there.
    Committed,
    /// The document and everything in it is loaded.
    Loaded,
    /// The collector may be called. The page ends when it navigates.
    Open,
}

impl PageState {
    pub(super) fn new() -> Self {
        Self {
            recording: Mutex::default(),
            phase: watch::Sender::new(Phase::Blank),
            main: watch::Sender::new(None),
            sessions: Mutex::default(),
            awaited_bodies: watch::Sender::new(0),
            gone: watch::Sender::new(None),
        }
    }

    /// Reads or writes the record.
    pub(super) fn record<T>(&self, with: impl FnOnce(&mut Recording) -> T) -> T {
        with(&mut self.recording.lock())
    }

    /// Changes the phase, if it is `from`.
    pub(super) fn advance(&self, from: Phase, to: Phase) {
        self.phase.send_if_modified(|phase| {
            let changes = *phase == from;
            if changes {
                *phase = to;
            }
            changes
        });
    }

    /// Waits for a phase, or for the end of the page.
    pub(super) async fn reached(&self, phase: Phase) {
        let mut phases = self.phase.subscribe();
        tokio::select! {
            // The senders live as long as `self`.
            _ = phases.wait_for(|now| *now >= phase) => {}
            _ = self.gone() => {}
        }
    }

    /// The main frame got another document.
    pub(super) fn committed(&self, url: &str) {
        self.advance(Phase::Navigating, Phase::Committed);
        if *self.phase.borrow() == Phase::Open {
            self.record(|recording| recording.navigated(url));
            self.is_gone(&format!("the page navigated to {url}"));
        }
    }

    /// The URL of the document changed.
    pub(super) fn moved_within(&self, url: &str) {
        if *self.phase.borrow() == Phase::Open {
            self.record(|recording| recording.navigated(url));
        }
    }

    /// Session of the page itself, if it is attached.
    pub(super) fn main(&self) -> Option<String> {
        self.main.borrow().clone()
    }

    /// Waits for the session of the page itself.
    pub(super) async fn main_attached(&self) -> String {
        let mut main = self.main.subscribe();
        let session = main.wait_for(Option::is_some).await.ok().and_then(|session| session.clone());
        session.expect("the sender lives as long as `self`")
    }

    pub(super) fn attached(&self, session: &str, is_main: bool) {
        self.sessions.lock().push(session.to_owned());
        if is_main {
            self.main.send_replace(Some(session.to_owned()));
        }
    }

    pub(super) fn detached(&self, session: &str) {
        self.sessions.lock().retain(|other| other != session);
    }

    /// Sessions of the page and of everything that it started.
    pub(super) fn sessions(&self) -> Vec<String> {
        self.sessions.lock().clone()
    }

    pub(super) fn body_awaited(&self) {
        self.awaited_bodies.send_modify(|count| *count += 1);
    }

    pub(super) fn body_arrived(&self, request: &str, result: Option<&Value>) {
        self.record(|recording| recording.body(request, result));
        self.awaited_bodies.send_modify(|count| *count = count.saturating_sub(1));
    }

    /// Waits until no body is awaited.
    pub(super) async fn bodies_arrived(&self) {
        // The sender lives as long as `self`.
        let _ = self.awaited_bodies.subscribe().wait_for(|count| *count == 0).await;
    }

    /// Ends the page. The first reason counts.
    pub(super) fn is_gone(&self, why: &str) {
        self.gone.send_if_modified(|gone| {
            let is_first = gone.is_none();
            gone.get_or_insert_with(|| why.to_owned());
            is_first
        });
    }

    /// Reason why the page is gone.
    pub(super) fn why_gone(&self) -> Option<String> {
        self.gone.borrow().clone()
    }

    /// Waits for the end of the page, and yields its reason.
    pub(super) async fn gone(&self) -> String {
        let mut gone = self.gone.subscribe();
        let why = gone.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        why.expect("the sender lives as long as `self`")
    }
}
