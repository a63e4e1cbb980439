use std::sync::atomic::{AtomicUsize, Ordering};

use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
use edgeproof_mock::{
    NoServiceFaults, ServiceAction, ServiceDecision, ServiceEndpoint, ServiceFaultHooks, ServiceRequest,
    SessionFact,
};

use super::state::ServiceMutant;

/// Requests for verdicts and the key set that the service answers correctly.
const CORRECT: usize = 4;

/// Fault hooks of a service that behaves correctly at first.
#[derive(Debug)]
pub(super) struct LateServiceMutant {
    mutant: ServiceMutant,
    /// Requests for verdicts and the key set so far.
    requests: AtomicUsize,
}

impl LateServiceMutant {
    pub(super) fn new(mutant: ServiceMutant) -> Self {
        Self { mutant, requests: AtomicUsize::new(0) }
    }

    /// The hooks in effect now.
    fn active(&self) -> &dyn ServiceFaultHooks {
        if self.requests.load(Ordering::Relaxed) > CORRECT { &self.mutant } else { &NoServiceFaults }
    }
}

impl ServiceFaultHooks for LateServiceMutant {
    fn authorization(&self, given: Option<String>) -> Option<String> {
        self.active().authorization(given)
    }

    fn at_once(&self, request: &ServiceRequest<'_>) -> Option<ServiceDecision> {
        if matches!(request.endpoint, ServiceEndpoint::Verdict | ServiceEndpoint::KeySet) {
            self.requests.fetch_add(1, Ordering::Relaxed);
        }
        self.active().at_once(request)
    }

    fn token(
        &self,
        authorization: Option<&str>,
        license_id: &str,
        right: Result<ReadClaims, ReadTokenFault>,
    ) -> Result<ReadClaims, ReadTokenFault> {
        self.active().token(authorization, license_id, right)
    }

    fn session(&self, reference: &str, right: SessionFact) -> SessionFact {
        self.active().session(reference, right)
    }

    fn ignores_disconnect(&self) -> bool {
        self.active().ignores_disconnect()
    }

    fn conclude(&self, request: &ServiceRequest<'_>, right: ServiceDecision) -> ServiceAction {
        self.active().conclude(request, right)
    }
}
