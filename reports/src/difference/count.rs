use serde::{Deserialize, Serialize};

use super::choice::values;
use super::page::SessionValue;
use super::value::Wire;

/// A number, and what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Count {
    /// What is counted.
    pub counted: Counted,
    /// Expected number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected: Option<u64>,
    /// Actual number.
    pub actual: u64,
    /// Number of all.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub of: Option<u64>,
    /// Number of those with a further property, number of their parts, or position of the first one from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part: Option<u64>,
    /// Seed of the generator.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<u64>,
    /// The expected one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wanted: Option<Wire>,
    /// The first one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first: Option<Wire>,
    /// The session without any of them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<SessionValue>,
}

impl Count {
    /// A number.
    pub fn new(counted: Counted, expected: usize, actual: usize) -> Self {
        let (expected, actual) = (Some(expected as u64), actual as u64);
        Self {
            counted,
            expected,
            actual,
            of: None,
            part: None,
            seed: None,
            wanted: None,
            first: None,
            session: None,
        }
    }

    /// Sets how the session ended, if there is none of them: it says more than their number.
    #[must_use]
    pub fn of_session(self, session: SessionValue) -> Self {
        Self { session: (self.actual == 0).then_some(session), ..self }
    }

    /// Sets the number of all.
    #[must_use]
    pub fn of(self, of: usize) -> Self {
        Self { of: Some(of as u64), ..self }
    }

    /// Sets the number of a part.
    #[must_use]
    pub fn part(self, part: usize) -> Self {
        Self { part: Some(part as u64), ..self }
    }

    /// Sets the seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// Sets the expected one.
    #[must_use]
    pub fn wanted(self, wanted: impl Into<Wire>) -> Self {
        Self { wanted: Some(wanted.into()), ..self }
    }

    /// Sets the first one.
    #[must_use]
    pub fn first(self, first: Option<impl Into<Wire>>) -> Self {
        Self { first: first.map(Into::into), ..self }
    }
}

values! {
    /// What is counted.
    Counted {
        /// Collections at the edge.
        Collections,
        /// Collections at the edge, at least one of them.
        SomeCollections,
        /// Collections after an abort.
        LateCollections,
        /// Collections whose request goes on after an abort.
        KeptCollections,
        /// POSTs of a page: the expected number is the highest.
        Posts,
        /// Accepted collections.
        AcceptedCollections,
        /// Copies of a collection.
        Copies,
        /// Requests at the service with the same body.
        SameBodies,
        /// Answers other than expected.
        WrongAnswers,
        /// Files and sockets that an edge keeps open after a batch of refusals.
        KeptFiles,
        /// Bodies that did not arrive once and unchanged.
        ChangedBodies,
        /// Generated bodies that did not arrive.
        LostBodies,
        /// Requests to the location of a redirect.
        FollowedRedirects,
        /// Requests to a host that a client names.
        RequestsElsewhere,
        /// Entries of a request target that the setting does not explain.
        RequestTargets,
        /// Requests at the service that belong to no case.
        ForeignRequests,
        /// Waiting requests.
        WaitingRequests,
        /// Header fields that reveal a verdict.
        RevealingHeaders,
        /// Methods other than POST at the service.
        OtherMethods,
        /// Requests at the service that broke off.
        BrokenRequests,
        /// Sequences of steps.
        Sequences,
        /// Files with sequences.
        SavedSequences,
        /// Steps of a sequence.
        Steps,
        /// Steps of a shrunk sequence.
        ShrunkSteps,
        /// Exchanges of an exploration.
        Exchanges,
        /// Exchanges that fail for a reason that another case judges.
        JudgedExchanges,
        /// Requests that the target refused by itself, as a limit of its rate does. The part is the status.
        LimitedRequests,
    }
}

impl Counted {
    /// The value with the same symptom.
    #[must_use]
    pub fn class(self) -> Self {
        match self {
            Self::SomeCollections | Self::LateCollections | Self::KeptCollections | Self::Posts => {
                Self::Collections
            }
            Self::SameBodies => Self::Copies,
            Self::SavedSequences => Self::Sequences,
            Self::ShrunkSteps => Self::Steps,
            Self::JudgedExchanges => Self::Exchanges,
            other => other,
        }
    }
}
