use bytes::Bytes;
use edgeproof_fixtures::credentials::{Credentials, ReadClaims, ReadTokenFault, check_read_token};
use edgeproof_fixtures::spec::Stimulus;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use std::time::SystemTime;

use super::fault_hooks::ServiceFaultHooks;

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

/// A fault of the service's own that keeps it from checking read tokens (7.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadOutage {
    /// There are no keys for read tokens.
    KeysMissing,
    /// The keys' address is not secure.
    KeysInsecure,
    /// The check itself fails.
    CheckFails,
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

impl ReadOutage {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::KeysMissing, Self::KeysInsecure, Self::CheckFails];

    /// The outage that is this cause of a refusal.
    pub fn for_stimulus(stimulus: Stimulus) -> Option<Self> {
        Self::ALL.into_iter().find(|outage| outage.stimulus() == stimulus)
    }

    /// The cause of a refusal that it is.
    pub fn stimulus(self) -> Stimulus {
        match self {
            Self::KeysMissing => Stimulus::ReadTokenKeysMissing,
            Self::KeysInsecure => Stimulus::ReadTokenKeysInsecure,
            Self::CheckFails => Stimulus::ReadTokenCheckFails,
        }
    }
}

/// Checks the read token of a request. Two `Authorization` fields say nothing.
pub(super) fn read_token(
    headers: &HeaderMap,
    credentials: &Credentials,
    hooks: &dyn ServiceFaultHooks,
    now: SystemTime,
) -> Result<ReadClaims, ReadTokenFault> {
    let mut fields = headers.get_all(AUTHORIZATION).iter();
    let field = fields.next().filter(|_| fields.next().is_none());
    let field =
        hooks.authorization(field.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()));
    let right = check_read_token(field.as_deref(), credentials.keys(), credentials.revocations(), now);
    hooks.token(field.as_deref(), credentials.license_id(), right)
}
