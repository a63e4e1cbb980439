use std::time::Duration;

use edgeproof_fixtures::verdict::{Confidence, Decision, Judgement};

/// A session to add to a mock service, as if its collection had been accepted. By default its verdict is ready at once
/// and is `allow`.
///
/// ```
/// use std::time::Duration;
/// use edgeproof_mock::{NewSession, Ready};
///
/// let slow = NewSession::new("order 4711").ready(Ready::After(Duration::from_secs(3)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    pub(crate) reference: String,
    pub(crate) license_id: Option<String>,
    pub(crate) ready: Ready,
    pub(crate) judgement: Judgement,
}

/// Time when the verdict of a session is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// This long from now, for the usual lifetime.
    After(Duration),
    /// This long after the first request for it.
    AfterFirstPoll(Duration),
    /// This long ago.
    Since(Duration),
    /// Always: each answer has a new verdict.
    Always,
    /// Never.
    Never,
}

impl NewSession {
    /// A session with this reference, under the license of the valid read token.
    pub fn new(reference: impl Into<String>) -> Self {
        let judgement = Judgement { decision: Decision::Allow, confidence: Confidence::FULL };
        Self { reference: reference.into(), license_id: None, ready: Ready::After(Duration::ZERO), judgement }
    }

    /// Sets the license.
    #[must_use]
    pub fn license_id(mut self, license_id: impl Into<String>) -> Self {
        self.license_id = Some(license_id.into());
        self
    }

    /// Sets the time when the verdict is ready.
    #[must_use]
    pub fn ready(mut self, ready: Ready) -> Self {
        self.ready = ready;
        self
    }

    /// Sets decision and confidence of the verdict.
    #[must_use]
    pub fn judgement(mut self, judgement: Judgement) -> Self {
        self.judgement = judgement;
        self
    }
}
