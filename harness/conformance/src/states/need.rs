use std::collections::BTreeSet;
use std::fmt;

use edgeproof_fixtures::credentials::ReadTokenForm;
use edgeproof_fixtures::spec::Stimulus;

/// A state that a case requires of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateNeed {
    /// A session has a verdict.
    Verdict,
    /// Sessions have the references that edgeproof chooses.
    ChosenReference,
    /// A session of another license has a verdict.
    OtherLicense,
    /// A verdict has an age.
    Aged,
    /// A session has no verdict yet.
    Pending,
    /// A session is gone.
    Gone,
    /// A read token is revoked, and restored.
    Revoke,
    /// The signing key is replaced.
    Rotate,
    /// The clock moves.
    Later,
    /// A page posted a collection.
    Collection,
    /// A credential is refused for this cause.
    Credential(Stimulus),
    /// A read token expires during the run.
    ExpiringToken,
    /// The service cannot check read tokens.
    Outage,
    /// The service tells how many requests wait for a verdict.
    Waiting,
}

impl StateNeed {
    /// All states.
    pub fn all() -> BTreeSet<Self> {
        let plain = [
            Self::Verdict,
            Self::ChosenReference,
            Self::OtherLicense,
            Self::Aged,
            Self::Pending,
            Self::Gone,
            Self::Revoke,
            Self::Rotate,
            Self::Later,
            Self::Collection,
            Self::ExpiringToken,
            Self::Outage,
            Self::Waiting,
        ];
        plain.into_iter().chain(Self::credentials()).collect()
    }

    /// The credentials that a service may provide.
    pub(super) fn credentials() -> impl Iterator<Item = Self> {
        let causes = ReadTokenForm::ALL.into_iter().filter(|form| *form != ReadTokenForm::Missing);
        causes.filter_map(ReadTokenForm::stimulus).map(Self::Credential)
    }

    /// Its name in a report's list of missing inputs.
    pub fn input(self) -> &'static str {
        match self {
            Self::Verdict => "the state verdict",
            Self::ChosenReference => "the state verdict with the given reference",
            Self::OtherLicense => "the state verdict with another license",
            Self::Aged => "the state verdict with an age",
            Self::Pending => "the state pending",
            Self::Gone => "the state gone",
            Self::Revoke => "the states revoke and restore",
            Self::Rotate => "the state rotate",
            Self::Later => "the state later",
            Self::Collection => "the state collection",
            Self::Credential(_) => "the state credential",
            Self::ExpiringToken => "the state credential with a time before it is refused",
            Self::Outage => "the state outage",
            Self::Waiting => "the state waiting",
        }
    }
}

impl fmt::Display for StateNeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.input())
    }
}
