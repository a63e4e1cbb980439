use std::sync::Arc;
use std::time::{Duration, SystemTime};

use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_fixtures::verdict::VerdictKeys;
use edgeproof_mock::{
    ServiceAction, ServiceDecision, ServiceEndpoint, ServiceFaultHooks, ServiceOptions, ServiceRequest,
    SessionFact,
};

use http::Version;

use super::effect::ServiceEffect;
use crate::behaviour::{Answer, Behaviour, Condition, Effect, Engine, Same, Seen, Setup};

/// When a mutant that behaves correctly at first begins: after four requests for verdicts and the key set.
pub(crate) const LATE: Condition = Condition::Earlier(Same::Part, 4, &FETCH);
const FETCH: Condition = Condition::Any(&[
    Condition::Endpoint(ServiceEndpoint::Verdict),
    Condition::Endpoint(ServiceEndpoint::KeySet),
]);

/// Changes the options of a mock service before it starts. `after`: a further condition.
pub(crate) fn inject(behaviour: &Behaviour<ServiceEffect>, after: Condition, options: &mut ServiceOptions) {
    if let ServiceEffect::Whole(hooks) = behaviour.then {
        options.hooks = hooks();
        return;
    }
    let other_keys = VerdictKeys::fresh().key_set().to_json();
    options.hooks = Arc::new(Engine::new(behaviour, after, Setup { other_keys, ..Setup::default() }));
}

impl ServiceFaultHooks for Engine<ServiceEffect> {
    fn at_once(&self, request: &ServiceRequest<'_>) -> Option<ServiceDecision> {
        let seen = self.seen_by_service(request);
        self.history.lock().arrive(&seen);
        self.effects(&seen).into_iter().find_map(|effect| match effect {
            ServiceEffect::Instead(page) => Some(page.answer(&seen).into_decision(None)),
            _ => None,
        })
    }

    fn authorization(&self, request: &ServiceRequest<'_>, right: Option<String>) -> Option<String> {
        self.effects(&self.seen_by_service(request)).into_iter().fold(right, |value, effect| match effect {
            ServiceEffect::Authorization(change) => value.map(|value| change(&value)),
            _ => value,
        })
    }

    fn token(
        &self,
        request: &ServiceRequest<'_>,
        license_id: &str,
        right: Result<ReadClaims, ReadTokenFault>,
    ) -> Result<ReadClaims, ReadTokenFault> {
        let stimulus = right.as_ref().err().map(|fault| fault.stimulus);
        let effects = self.effects(&Seen { stimulus, ..self.seen_by_service(request) });
        effects.into_iter().fold(right, |result, effect| match effect {
            ServiceEffect::AcceptToken => Ok(accepted(license_id)),
            ServiceEffect::RefuseToken => Err(Stimulus::ReadTokenMissing.into()),
            _ => result,
        })
    }

    fn session(&self, request: &ServiceRequest<'_>, right: SessionFact) -> SessionFact {
        let seen = Seen { stimulus: Some(right.stimulus()), ..self.seen_by_service(request) };
        self.effects(&seen).into_iter().fold(right, |session, effect| match effect {
            ServiceEffect::Session(find) => find(&seen),
            _ => session,
        })
    }

    fn verdict_lasts(&self, right: Duration) -> Duration {
        self.effects_at_start().into_iter().fold(right, |lifetime, effect| match effect {
            ServiceEffect::VerdictLasts(change) => change(lifetime),
            _ => lifetime,
        })
    }

    fn ignores_disconnect(&self) -> bool {
        self.effects_at_start().iter().any(|effect| matches!(effect, ServiceEffect::IgnoresDisconnect))
    }

    fn conclude(&self, request: &ServiceRequest<'_>, right: ServiceDecision) -> ServiceAction {
        let stimulus = right.stimulus;
        let right = Answer::from(right);
        let seen = Seen { stimulus, answer: Some(&right), ..self.seen_by_service(request) };
        let mut history = self.history.lock();
        let (mut answer, mut late, mut raw) = (right.clone(), Duration::ZERO, None);
        for effect in self.effects_after(&seen, &history) {
            match effect {
                ServiceEffect::Answering(change) => answer = change.apply(&seen, &history, answer),
                ServiceEffect::Delay(delay) => late = delay,
                ServiceEffect::Raw(change) if request.version < Version::HTTP_2 => {
                    raw = Some(change(&answer.text(&seen)));
                }
                _ => {}
            }
        }
        history.conclude(&seen);
        let decision = answer.into_decision(stimulus);
        match raw {
            None => ServiceAction::At(late, decision),
            Some(text) => ServiceAction::Raw(decision, text.into()),
        }
    }
}

impl<E: Effect> Engine<E> {
    /// What is known of a request.
    pub(crate) fn seen_by_service<'a>(&'a self, request: &ServiceRequest<'a>) -> Seen<'a> {
        Seen {
            version: request.version,
            connection: request.connection,
            endpoint: Some(request.endpoint),
            reference: request.reference.unwrap_or_default(),
            ..Seen::new(request.method, request.target, request.headers, &self.setup)
        }
    }
}

/// Claims of a token that the service should have refused.
pub(super) fn accepted(license_id: &str) -> ReadClaims {
    ReadClaims { license_id: license_id.to_owned(), expires: SystemTime::now() }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, Method};
    use rstest::rstest;

    use super::*;
    use crate::service::MUTANTS;

    fn engine(name: &str, after: Condition) -> Engine<ServiceEffect> {
        let mut mutants = MUTANTS.into_iter().flatten();
        let mutant = mutants.find(|mutant| mutant.facts.name == name).unwrap();
        Engine::new(mutant, after, Setup::default())
    }

    /// Statuses of requests for a verdict that is available, each with a reference.
    #[rstest]
    #[case::once_for_each_reference("returns-verdict-once", Condition::Always, &[200, 200, 404, 404, 200])]
    #[case::after_four_requests("returns-verdict-once", LATE, &[200, 200, 200, 200, 404])]
    #[case::without_a_history("returns-empty-verdict", Condition::Always, &[200, 200, 200, 200, 200])]
    fn a_history_decides_what_a_service_answers(
        #[case] name: &str,
        #[case] after: Condition,
        #[case] expected: &[u16],
    ) {
        let (hooks, headers) = (engine(name, after), HeaderMap::new());
        let references = if after == LATE { ["a", "b", "c", "d", "a"] } else { ["a", "b", "a", "b", "c"] };
        let statuses = references.map(|reference| {
            let request = ServiceRequest {
                endpoint: ServiceEndpoint::Verdict,
                method: &Method::GET,
                target: "/v1/verdict",
                reference: Some(reference),
                headers: &headers,
                version: Version::HTTP_11,
                connection: 0,
            };
            let (body, stimulus) = (Bytes::from_static(b"{}"), Some(Stimulus::VerdictReady));
            let right = ServiceDecision { status: 200, headers: HeaderMap::new(), body, stimulus };
            assert_eq!(hooks.at_once(&request), None);
            match hooks.conclude(&request, right) {
                ServiceAction::At(_, decision) => decision.status,
                _ => panic!("no answer"),
            }
        });
        assert_eq!(statuses, expected);
    }
}
