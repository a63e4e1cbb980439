use std::fmt;
use std::time::Duration;

use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
use http::{HeaderMap, Method};

use super::decision::ServiceDecision;
use super::route::ServiceEndpoint;
use super::verdict_facts::{ReadOutage, SessionFact};

/// Where a service or its key set does other than the mock service. Each method is given what is right and by default
/// returns it: a deviation overrides the one that it is about, and everything else stays the real service.
pub trait ServiceFaultHooks: fmt::Debug + Send + Sync {
    /// The value of `Authorization` that the read token is looked for in.
    fn authorization(&self, given: Option<String>) -> Option<String> {
        given
    }

    /// An answer before anything is looked at.
    fn at_once(&self, _asked: &ServiceRequest<'_>) -> Option<ServiceDecision> {
        None
    }

    /// What the read token is taken for. `authorization`: where it was looked for; `license_id`: of the license that is
    /// not somebody else's.
    fn token(
        &self,
        _authorization: Option<&str>,
        _license_id: &str,
        right: Result<ReadClaims, ReadTokenFault>,
    ) -> Result<ReadClaims, ReadTokenFault> {
        right
    }

    /// What keeps the service from checking read tokens.
    fn outage(&self, right: Option<ReadOutage>) -> Option<ReadOutage> {
        right
    }

    /// What there is for a session reference.
    fn session(&self, _reference: &str, right: SessionFact) -> SessionFact {
        right
    }

    /// Age up to which a verdict is found.
    fn verdict_lasts(&self, right: Duration) -> Duration {
        right
    }

    /// A request goes on waiting when its client has left.
    fn waits_for_nobody(&self) -> bool {
        false
    }

    /// What is said in the end.
    fn conclude(&self, _asked: &ServiceRequest<'_>, right: ServiceDecision) -> ServiceAction {
        ServiceAction::At(Duration::ZERO, right)
    }
}

/// None.
#[derive(Debug, Clone, Copy)]
pub struct NoFaults;

impl ServiceFaultHooks for NoFaults {}

/// A request as a hooks of a service sees it.
#[derive(Debug, Clone, Copy)]
pub struct ServiceRequest<'a> {
    /// What it is for.
    pub endpoint: ServiceEndpoint,
    /// Its method.
    pub method: &'a Method,
    /// Its target, as it was written.
    pub target: &'a str,
    /// The session reference, decoded, where it is for a verdict.
    pub reference: Option<&'a str>,
    /// Header fields.
    pub headers: &'a HeaderMap,
    /// Number of its connection.
    pub connection: u64,
}

/// What a service says to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceAction {
    /// This, after so much time.
    At(Duration, ServiceDecision),
    /// Nothing: the connection is closed.
    Nothing,
}
