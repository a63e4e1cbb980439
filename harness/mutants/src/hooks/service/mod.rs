//! Fault hooks of service and key set behaviours: a method of `ServiceMutant` for each place where a service can behave
//! wrongly.

mod keys;
mod late;
mod request;
mod state;
mod token;
mod verdict;

use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_mock::{
    ServiceAction, ServiceDecision, ServiceEndpoint, ServiceFaultHooks, ServiceOptions, ServiceRequest,
    SessionFact,
};
use http::StatusCode;

use crate::mutation::ServiceBehaviour;
use late::LateServiceMutant;
use state::ServiceMutant;

/// Delay of a slow answer.
const DELAY: Duration = Duration::from_millis(3200);

/// Changes the options of a mock service before it starts.
pub(super) fn inject(behaviour: ServiceBehaviour, options: &mut ServiceOptions) {
    options.hooks = Arc::new(ServiceMutant::new(behaviour));
}

/// Changes the options of a mock service that behaves correctly at first.
pub(super) fn inject_late(behaviour: ServiceBehaviour, options: &mut ServiceOptions) {
    options.hooks = Arc::new(LateServiceMutant::new(ServiceMutant::new(behaviour)));
}

impl ServiceFaultHooks for ServiceMutant {
    fn at_once(&self, request: &ServiceRequest<'_>) -> Option<ServiceDecision> {
        self.answer_at_once(request).or_else(|| self.answer_by_request(request))
    }

    fn authorization(&self, given: Option<String>) -> Option<String> {
        token::change_authorization(self.behaviour, given)
    }

    fn token(
        &self,
        authorization: Option<&str>,
        license_id: &str,
        right: Result<ReadClaims, ReadTokenFault>,
    ) -> Result<ReadClaims, ReadTokenFault> {
        self.judge_token(authorization, license_id, right)
    }

    fn session(&self, reference: &str, right: SessionFact) -> SessionFact {
        use ServiceBehaviour as B;
        match (self.behaviour, right) {
            (B::ReturnsOtherLicense, SessionFact::OtherLicense) => verdict::invented(reference),
            (B::KnowsAll, right) if right.stimulus() != Stimulus::VerdictReady => {
                verdict::invented(reference)
            }
            (B::KnowsNone, SessionFact::Ready(_)) => SessionFact::Unknown,
            (B::IgnoresCase, right) => self.ignore_case(reference, right),
            (_, right) => right,
        }
    }

    fn verdict_lasts(&self, right: Duration) -> Duration {
        match self.behaviour {
            ServiceBehaviour::KeepsOld => Duration::MAX,
            ServiceBehaviour::KeepsTwice => right * 2,
            ServiceBehaviour::DeletesEarly => right / 2,
            _ => right,
        }
    }

    fn ignores_disconnect(&self) -> bool {
        self.behaviour == ServiceBehaviour::WaitsAfterDisconnect
    }

    fn conclude(&self, request: &ServiceRequest<'_>, right: ServiceDecision) -> ServiceAction {
        let mut decision = right;
        match request.endpoint {
            ServiceEndpoint::Verdict => self.change_verdict(request, &mut decision),
            ServiceEndpoint::KeySet => self.change_key_set(request, &mut decision),
            ServiceEndpoint::Relay => self.change_relay(&mut decision),
            ServiceEndpoint::Nothing => self.note_delete(request),
        }
        self.change_by_request(request, &mut decision);
        self.echo_token(request, &mut decision);
        let waits = verdict::wait_ms(request).is_some();
        let slow = match self.behaviour {
            ServiceBehaviour::AnswersLate => waits,
            ServiceBehaviour::DelaysRefusals => waits && decision.status == StatusCode::UNAUTHORIZED.as_u16(),
            _ => false,
        };
        ServiceAction::At(if slow { DELAY } else { Duration::ZERO }, decision)
    }
}
