use std::time::Duration;

use edgeproof_fixtures::verdict::{Confidence, Decision, Judgement};

/// A session to be put into a mock service, as if its collection had been accepted. Its verdict is there at once and
/// advises `allow`, unless it says otherwise.
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

/// When a session has its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// So long from now on; then it lasts as long as any verdict.
    After(Duration),
    /// So long after somebody asks for it for the first time.
    AfterFirstPoll(Duration),
    /// It came about so long ago.
    Since(Duration),
    /// Always, never too old: each answer holds one of its own time.
    Always,
    /// Never.
    Never,
}

impl NewSession {
    /// A session of this reference, under the license that the valid read token is for.
    pub fn new(reference: impl Into<String>) -> Self {
        let judgement = Judgement { decision: Decision::Allow, confidence: Confidence::FULL };
        Self { reference: reference.into(), license_id: None, ready: Ready::After(Duration::ZERO), judgement }
    }

    /// Under this license.
    #[must_use]
    pub fn license_id(mut self, license_id: impl Into<String>) -> Self {
        self.license_id = Some(license_id.into());
        self
    }

    /// When its verdict is there.
    #[must_use]
    pub fn ready(mut self, ready: Ready) -> Self {
        self.ready = ready;
        self
    }

    /// What its verdict says.
    #[must_use]
    pub fn judgement(mut self, judgement: Judgement) -> Self {
        self.judgement = judgement;
        self
    }
}
