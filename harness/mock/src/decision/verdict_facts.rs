use bytes::Bytes;
use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
use edgeproof_fixtures::spec::Stimulus;

use super::ReadOutage;

/// Facts of a request for a verdict (7.4): all inputs of [`decide_verdict`](super::decide_verdict) besides the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictFacts<'a> {
    /// Claims of the read token, or its fault.
    pub token: &'a Result<ReadClaims, ReadTokenFault>,
    /// Fault of read token checks.
    pub outage: Option<ReadOutage>,
    /// Session reference, as the answer repeats it.
    pub reference: &'a str,
    /// State of the session under the token's license. Ignored for a refused token.
    pub session: SessionFact,
}

/// State of a session, as a request for its verdict finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionFact {
    /// A verdict, in JSON.
    Ready(Bytes),
    /// A session without a verdict yet.
    Pending,
    /// A session whose verdict is too old.
    TooOld,
    /// No session.
    Unknown,
    /// A session under another license.
    OtherLicense,
}

impl SessionFact {
    /// Stimulus of the answer.
    pub fn stimulus(&self) -> Stimulus {
        match self {
            Self::Ready(_) => Stimulus::VerdictReady,
            Self::Pending => Stimulus::VerdictPending,
            Self::TooOld => Stimulus::VerdictTooOld,
            Self::Unknown => Stimulus::ReferenceUnknown,
            Self::OtherLicense => Stimulus::ReferenceOtherLicense,
        }
    }
}
