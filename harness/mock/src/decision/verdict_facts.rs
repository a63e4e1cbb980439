use bytes::Bytes;
use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
use edgeproof_fixtures::spec::Stimulus;

use super::ReadOutage;

/// What a decision on a request for a verdict depends on (7.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictFacts<'a> {
    /// What the read token allows, or why it is none.
    pub token: &'a Result<ReadClaims, ReadTokenFault>,
    /// What keeps the service from checking read tokens.
    pub outage: Option<ReadOutage>,
    /// The session reference, as it is told back.
    pub reference: &'a str,
    /// What there is for that reference and the token's license. Not looked at where the token is refused.
    pub session: SessionFact,
}

/// What there is for a session reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionFact {
    /// The verdict, in JSON.
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
    /// The cause that it is.
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
