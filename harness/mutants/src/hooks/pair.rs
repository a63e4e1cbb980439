//! Fault hooks of two mutants in one part: each hook of the second gets the result of the first.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_edge::{
    EdgeAction, EdgeAnswer, EdgeDecision, EdgeFaultHooks, EdgeOptions, EdgeRequest, RelayResult,
    UpstreamOptions,
};
use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
use edgeproof_mock::{
    ReadOutage, ServiceAction, ServiceDecision, ServiceFaultHooks, ServiceOptions, ServiceRequest,
    SessionFact,
};
use edgeproof_targets::FaultInjection;

/// Injects two faults into the edges and mock services of one run.
#[derive(Debug)]
pub(crate) struct PairInjection(Box<dyn FaultInjection>, Box<dyn FaultInjection>);

impl PairInjection {
    pub(crate) fn new(first: impl FaultInjection + 'static, second: impl FaultInjection + 'static) -> Self {
        Self(Box::new(first), Box::new(second))
    }
}

impl FaultInjection for PairInjection {
    fn edge(&self, options: &mut EdgeOptions) {
        self.0.edge(options);
        let first = Arc::clone(&options.hooks);
        self.1.edge(options);
        if !Arc::ptr_eq(&first, &options.hooks) {
            options.hooks = Arc::new(EdgePair(first, Arc::clone(&options.hooks)));
        }
    }

    fn service(&self, options: &mut ServiceOptions) {
        self.0.service(options);
        let first = Arc::clone(&options.hooks);
        self.1.service(options);
        if !Arc::ptr_eq(&first, &options.hooks) {
            options.hooks = Arc::new(ServicePair(first, Arc::clone(&options.hooks)));
        }
    }

    fn announce(&self, marker: &str, values: &[String]) {
        self.0.announce(marker, values);
        self.1.announce(marker, values);
    }
}

#[derive(Debug)]
struct EdgePair(Arc<dyn EdgeFaultHooks>, Arc<dyn EdgeFaultHooks>);

impl EdgeFaultHooks for EdgePair {
    fn upstream(&self, right: UpstreamOptions) -> UpstreamOptions {
        self.1.upstream(self.0.upstream(right))
    }

    fn title_case_headers(&self) -> bool {
        self.0.title_case_headers() || self.1.title_case_headers()
    }

    fn decide(&self, request: &EdgeRequest<'_>, right: EdgeDecision) -> EdgeDecision {
        self.1.decide(request, self.0.decide(request, right))
    }

    fn partial_body(&self, request: &EdgeRequest<'_>, part: Bytes) -> Option<Bytes> {
        self.0.partial_body(request, part.clone()).or_else(|| self.1.partial_body(request, part))
    }

    fn body(&self, request: &EdgeRequest<'_>, body: Bytes) -> Result<Bytes, Box<EdgeAnswer>> {
        self.1.body(request, self.0.body(request, body)?)
    }

    fn before(&self, request: &EdgeRequest<'_>, body: &Bytes) -> Option<Bytes> {
        let (first, second) = (self.0.before(request, body), self.1.before(request, body));
        first.or(second)
    }

    fn result(&self, right: RelayResult) -> RelayResult {
        self.1.result(self.0.result(right))
    }

    fn again(&self, request: &EdgeRequest<'_>, result: &RelayResult) -> bool {
        let (first, second) = (self.0.again(request, result), self.1.again(request, result));
        first || second
    }

    fn conclude(
        &self,
        request: &EdgeRequest<'_>,
        result: Option<&RelayResult>,
        right: EdgeAnswer,
    ) -> EdgeAction {
        match self.0.conclude(request, result, right) {
            EdgeAction::Answer(answer) => self.1.conclude(request, result, answer),
            other => other,
        }
    }
}

#[derive(Debug)]
struct ServicePair(Arc<dyn ServiceFaultHooks>, Arc<dyn ServiceFaultHooks>);

impl ServiceFaultHooks for ServicePair {
    fn authorization(&self, request: &ServiceRequest<'_>, value: Option<String>) -> Option<String> {
        self.1.authorization(request, self.0.authorization(request, value))
    }

    fn at_once(&self, request: &ServiceRequest<'_>) -> Option<ServiceDecision> {
        self.0.at_once(request).or_else(|| self.1.at_once(request))
    }

    fn token(
        &self,
        request: &ServiceRequest<'_>,
        license_id: &str,
        correct: Result<ReadClaims, ReadTokenFault>,
    ) -> Result<ReadClaims, ReadTokenFault> {
        self.1.token(request, license_id, self.0.token(request, license_id, correct))
    }

    fn outage(&self, correct: Option<ReadOutage>) -> Option<ReadOutage> {
        self.1.outage(self.0.outage(correct))
    }

    fn session(&self, request: &ServiceRequest<'_>, correct: SessionFact) -> SessionFact {
        self.1.session(request, self.0.session(request, correct))
    }

    fn verdict_lasts(&self, correct: Duration) -> Duration {
        self.1.verdict_lasts(self.0.verdict_lasts(correct))
    }

    fn ignores_disconnect(&self) -> bool {
        self.0.ignores_disconnect() || self.1.ignores_disconnect()
    }

    fn conclude(&self, request: &ServiceRequest<'_>, correct: ServiceDecision) -> ServiceAction {
        match self.0.conclude(request, correct) {
            ServiceAction::At(delay, decision) => match self.1.conclude(request, decision) {
                ServiceAction::At(more, decision) => ServiceAction::At(delay + more, decision),
                other => other,
            },
            other => other,
        }
    }
}
