use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
use http::{HeaderMap, Method, Version};

use crate::decision::{ReadOutage, ServiceDecision, SessionFact};
use crate::route::ServiceEndpoint;

/// Fault hooks of a service and its key set; no-op outside mutation runs. Each method receives the correct value and
/// returns it by default. A mutant overrides the methods of its fault.
pub trait ServiceFaultHooks: fmt::Debug + Send + Sync {
    /// Value of `Authorization` that holds the read token.
    fn authorization(&self, _request: &ServiceRequest<'_>, value: Option<String>) -> Option<String> {
        value
    }

    /// Answer before any check.
    fn at_once(&self, _request: &ServiceRequest<'_>) -> Option<ServiceDecision> {
        None
    }

    /// Result of the read token check. `license_id`: the service's own license.
    fn token(
        &self,
        _request: &ServiceRequest<'_>,
        _license_id: &str,
        correct: Result<ReadClaims, ReadTokenFault>,
    ) -> Result<ReadClaims, ReadTokenFault> {
        correct
    }

    /// Fault of read token checks.
    fn outage(&self, correct: Option<ReadOutage>) -> Option<ReadOutage> {
        correct
    }

    /// State of the requested session.
    fn session(&self, _request: &ServiceRequest<'_>, correct: SessionFact) -> SessionFact {
        correct
    }

    /// Lifetime of a verdict.
    fn verdict_lasts(&self, correct: Duration) -> Duration {
        correct
    }

    /// True if a long poll continues after its client left.
    fn ignores_disconnect(&self) -> bool {
        false
    }

    /// Final action.
    fn conclude(&self, _request: &ServiceRequest<'_>, correct: ServiceDecision) -> ServiceAction {
        ServiceAction::At(Duration::ZERO, correct)
    }
}

/// No faults.
#[derive(Debug, Clone, Copy)]
pub struct NoServiceFaults;

impl ServiceFaultHooks for NoServiceFaults {}

/// A request, as fault hooks receive it.
#[derive(Debug, Clone, Copy)]
pub struct ServiceRequest<'a> {
    /// Endpoint.
    pub endpoint: ServiceEndpoint,
    /// Method.
    pub method: &'a Method,
    /// Request target, as sent.
    pub target: &'a str,
    /// Decoded session reference of a request for a verdict.
    pub reference: Option<&'a str>,
    /// Header fields.
    pub headers: &'a HeaderMap,
    /// HTTP version.
    pub version: Version,
    /// Number of the connection.
    pub connection: u64,
}

/// Action of a service on a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServiceAction {
    /// Sends this answer after a delay.
    At(Duration, ServiceDecision),
    /// Sends these bytes in place of this answer. HTTP/1 only.
    Raw(ServiceDecision, Bytes),
    /// Closes the connection without an answer.
    Nothing,
}
