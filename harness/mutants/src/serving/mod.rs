//! Deviant services and key sets: at a row, or by a behaviour. A method of [`Serving`] for each place where a service can
//! do otherwise.

mod at_row;
mod behaviour;
mod derive;
mod keys;
mod token;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_fixtures::verdict::VerdictKeys;
use http::StatusCode;

pub(crate) use at_row::shows;
pub use at_row::{AtServiceRow, Fault};
pub use behaviour::ServiceBehaviour;
pub use derive::derive_serving;

use edgeproof_mock::{
    ServiceAction, ServiceDecision, ServiceEndpoint, ServiceFaultHooks, ServiceRequest, SessionFact,
};

/// By how much an answer comes too late.
const LATE: Duration = Duration::from_millis(3200);

/// Fault hooks of a behaviour, for one mock service.
pub(super) fn hooks(behaviour: ServiceBehaviour) -> Arc<dyn ServiceFaultHooks> {
    Arc::new(Serving::new(behaviour))
}

/// A service that behaves so.
#[derive(Debug)]
struct Serving {
    behaviour: ServiceBehaviour,
    /// Authorizations that are refused.
    refused: Mutex<BTreeSet<String>>,
    /// Tokens that were taken, or references that a verdict was given for.
    given: Mutex<BTreeSet<String>>,
    /// The last answer to a token that is accepted, by target.
    cached: Mutex<BTreeMap<String, ServiceDecision>>,
    /// The first reference of each connection.
    firsts: Mutex<BTreeMap<u64, String>>,
    /// The reference of the request before.
    last: Mutex<Option<String>>,
    /// A copy came.
    copied: AtomicBool,
    /// Key sets that were asked for.
    asked: AtomicUsize,
    /// Keys that nothing is signed with.
    others: VerdictKeys,
}

impl Serving {
    fn new(behaviour: ServiceBehaviour) -> Self {
        Self {
            behaviour,
            refused: Mutex::default(),
            given: Mutex::default(),
            cached: Mutex::default(),
            firsts: Mutex::default(),
            last: Mutex::default(),
            copied: AtomicBool::new(false),
            asked: AtomicUsize::new(0),
            others: VerdictKeys::fresh(),
        }
    }
}

impl ServiceFaultHooks for Serving {
    fn at_once(&self, asked: &ServiceRequest<'_>) -> Option<ServiceDecision> {
        self.rejects(asked)
    }

    fn authorization(&self, given: Option<String>) -> Option<String> {
        token::authorization(self.behaviour, given)
    }

    fn token(
        &self,
        authorization: Option<&str>,
        license_id: &str,
        right: Result<ReadClaims, ReadTokenFault>,
    ) -> Result<ReadClaims, ReadTokenFault> {
        self.takes(authorization, license_id, right)
    }

    fn session(&self, reference: &str, right: SessionFact) -> SessionFact {
        use ServiceBehaviour as B;
        match (self.behaviour, right) {
            (B::GivesOtherLicense, SessionFact::OtherLicense) => verdict::invented(reference),
            (B::KnowsAll, right) if right.stimulus() != Stimulus::VerdictReady => {
                verdict::invented(reference)
            }
            (B::KnowsNone, SessionFact::Ready(_)) => SessionFact::Unknown,
            (_, right) => right,
        }
    }

    fn verdict_lasts(&self, right: Duration) -> Duration {
        match self.behaviour {
            ServiceBehaviour::KeepsOld => Duration::MAX,
            ServiceBehaviour::ForgetsSoon => right / 2,
            _ => right,
        }
    }

    fn waits_for_nobody(&self) -> bool {
        self.behaviour == ServiceBehaviour::HoldsGone
    }

    fn conclude(&self, asked: &ServiceRequest<'_>, right: ServiceDecision) -> ServiceAction {
        let mut decision = right;
        match asked.endpoint {
            ServiceEndpoint::Verdict => self.verdict(asked, &mut decision),
            ServiceEndpoint::KeySet => self.keys(asked, &mut decision),
            ServiceEndpoint::Relay => self.relay(&mut decision),
            ServiceEndpoint::Nothing => {}
        }
        self.echo(asked, &mut decision);
        let waits = verdict::wait(asked).is_some();
        let late = match self.behaviour {
            ServiceBehaviour::AnswersLate => waits,
            ServiceBehaviour::LetsAllWait => waits && decision.status == StatusCode::UNAUTHORIZED.as_u16(),
            _ => false,
        };
        ServiceAction::At(if late { LATE } else { Duration::ZERO }, decision)
    }
}

/// An answer of the service's own that has no row.
fn json(status: StatusCode, body: &'static str) -> ServiceDecision {
    let headers = [(http::header::CONTENT_TYPE, http::HeaderValue::from_static("application/json"))];
    let headers = headers.into_iter().collect();
    ServiceDecision {
        status: status.as_u16(),
        headers,
        body: Bytes::from_static(body.as_bytes()),
        cause: None,
    }
}
