use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_edge::{
    EdgeAction, EdgeAnswer, EdgeDecision, EdgeFaultHooks, EdgeOptions, EdgeRequest, RelayResult,
    UpstreamOptions,
};
use edgeproof_fixtures::credentials::{EdgeSettings, Secret};
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, VARY};

use super::effect::EdgeEffect;
use crate::behaviour::{Answer, Behaviour, Condition, Effect, Engine, History, Same, Seen, Setup, Which};

/// When a mutant that behaves correctly at first begins: after five collections.
pub(crate) const LATE: Condition = Condition::Earlier(Same::Part, 5, &Condition::Collection);

/// Changes the options of an edge before it starts. `after`: a further condition. `first`: settings of the run's first
/// edge.
pub(crate) fn inject(
    behaviour: &Behaviour<EdgeEffect>,
    after: Condition,
    options: &mut EdgeOptions,
    first: &EdgeSettings,
) {
    let engine = Engine::new(behaviour, after, Setup::of_edge(options));
    for effect in engine.effects_at_start() {
        match effect {
            EdgeEffect::Start(change) => change(options, first),
            EdgeEffect::License(text) => options.settings.license = Some(Secret::new(text.to_owned())),
            _ => {}
        }
    }
    options.hooks = Arc::new(engine);
}

impl EdgeFaultHooks for Engine<EdgeEffect> {
    fn upstream(&self, right: UpstreamOptions) -> UpstreamOptions {
        self.effects_at_start().into_iter().fold(right, |options, effect| match effect {
            EdgeEffect::ChecksCertificate(certificate_check) => {
                UpstreamOptions { certificate_check, ..options }
            }
            EdgeEffect::Upstream(change) => change(options),
            _ => options,
        })
    }

    fn continues(&self) -> bool {
        !self.effects_at_start().iter().any(|effect| matches!(effect, EdgeEffect::NoContinue))
    }

    fn decide(&self, request: &EdgeRequest<'_>, right: EdgeDecision) -> EdgeDecision {
        let seen = self.seen_by_edge(request);
        self.history.lock().arrive(&seen);
        self.effects(&seen).into_iter().fold(right, |decision, effect| match effect {
            EdgeEffect::Instead(page) => EdgeDecision::Answer(page.answer(&seen).into()),
            EdgeEffect::RelayAnyway => EdgeDecision::Relay,
            _ => decision,
        })
    }

    fn partial_body(&self, request: &EdgeRequest<'_>, part: Bytes) -> Option<Bytes> {
        self.effects(&self.seen_by_edge(request)).into_iter().find_map(|effect| match effect {
            EdgeEffect::Partial(change) => Some(change(part.clone())),
            _ => None,
        })
    }

    fn body(&self, request: &EdgeRequest<'_>, right: Bytes) -> Result<Bytes, Box<EdgeAnswer>> {
        let seen = Seen { body: Some(&right), ..self.seen_by_edge(request) };
        let changed = self.effects(&seen).into_iter().try_fold(right.clone(), |body, effect| match effect {
            EdgeEffect::Body(change) => Ok(change(&body).into()),
            EdgeEffect::BodyText(text) => Ok(Bytes::from_static(text.as_bytes())),
            EdgeEffect::Parse(parse) => parse(&seen),
            EdgeEffect::Refuse(page) => Err(Box::new(page.answer(&seen))),
            _ => Ok(body),
        });
        changed.map_err(|answer| Box::new(granted(&seen, *answer).into()))
    }

    fn before(&self, request: &EdgeRequest<'_>, _body: &Bytes) -> Option<Bytes> {
        let (seen, history) = (self.seen_by_edge(request), self.history.lock());
        self.effects_after(&seen, &history).into_iter().find_map(|effect| match effect {
            EdgeEffect::RelayFirst(memory) => {
                history.recall(Which::Last, memory, &seen).map(|past| past.body.clone())
            }
            _ => None,
        })
    }

    fn again(&self, request: &EdgeRequest<'_>, result: &RelayResult) -> bool {
        let seen = Seen { relayed: Some(result), ..self.seen_by_edge(request) };
        let effects = self.effects(&seen);
        request.relays == 1 && effects.iter().any(|effect| matches!(effect, EdgeEffect::RelayAgain))
    }

    fn conclude(
        &self,
        request: &EdgeRequest<'_>,
        relayed: Option<&RelayResult>,
        right: EdgeAnswer,
    ) -> EdgeAction {
        let right = Answer::from(right);
        let seen = Seen { relayed, answer: Some(&right), ..self.seen_by_edge(request) };
        let mut history = self.history.lock();
        let effects = self.effects_after(&seen, &history);
        let mut answer = right.clone();
        let (mut action, mut late) = (None, Duration::ZERO);
        for effect in effects {
            match effect {
                EdgeEffect::Answering(change) => answer = change.apply(&seen, &history, answer),
                EdgeEffect::Raw(change) if request.version < http::Version::HTTP_2 => {
                    action = Some(EdgeAction::Raw(answer.clone().into(), change(&answer.text(&seen)).into()));
                }
                EdgeEffect::NoAnswer => action = Some(EdgeAction::Nothing),
                EdgeEffect::Delay(delay) => late = delay,
                EdgeEffect::Silence => action = Some(EdgeAction::Silence),
                EdgeEffect::Log(change) => answer.log = answer.log.map(|line| change(&seen, &line)),
                EdgeEffect::LogAlso(more) => {
                    answer.log = answer.log.map(|line| match more(&seen) {
                        Some(more) => format!("{line} {more}"),
                        None => line,
                    });
                }
                _ => {}
            }
        }
        history.conclude(&seen);
        let answered = |answer| {
            if late.is_zero() { EdgeAction::Answer(answer) } else { EdgeAction::Later(late, answer) }
        };
        action.unwrap_or_else(|| answered(answer.into()))
    }
}

impl<E: Effect> Engine<E> {
    /// What is known of a request.
    pub(crate) fn seen_by_edge<'a>(&'a self, request: &'a EdgeRequest<'a>) -> Seen<'a> {
        Seen {
            query: request.query,
            version: request.version,
            peer: Some(request.peer),
            connection: request.connection,
            body: request.body.as_ref(),
            relays: request.relays,
            ..Seen::new(&request.facts.method, &request.facts.path, request.headers, &self.setup)
        }
    }
}

/// Grants the allowed origin access to an answer, as a middleware does.
fn granted(seen: &Seen<'_>, answer: Answer) -> Answer {
    let allowed = &seen.setup.allowed_origin;
    if allowed.is_empty() {
        return answer;
    }
    let answer = answer.with(VARY.as_str(), "Origin");
    if !Condition::FromAllowedOrigin.holds(seen, &History::default()) {
        return answer;
    }
    answer.with(ACCESS_CONTROL_ALLOW_ORIGIN.as_str(), allowed)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};

    use edgeproof_edge::{
        EdgeIo, EdgeRules, LogSink, RequestBody, RequestFacts, conclude, decide, handle_request,
    };
    use edgeproof_fixtures::spec::{Spec, Version};
    use futures_util::FutureExt;
    use http::header::ORIGIN;
    use http::{HeaderMap, HeaderValue, Method, StatusCode};

    use super::*;
    use crate::edge::MUTANTS;

    const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
    const ORIGIN_OF_PAGE: &str = "https://shop.example";

    /// A recorded exchange.
    struct Exchange {
        facts: RequestFacts,
        headers: HeaderMap,
        connection: u64,
        body: Bytes,
        relayed: Option<RelayResult>,
    }

    impl Exchange {
        fn new(method: Method, path: &str, connection: u64, relayed: Option<RelayResult>) -> Self {
            let origin = HeaderValue::from_static(ORIGIN_OF_PAGE);
            let headers = HeaderMap::from_iter([(ORIGIN, origin.clone())]);
            let facts =
                RequestFacts { method, path: path.to_owned(), origin: Some(origin), websocket: false };
            Self { facts, headers, connection, body: Bytes::from_static(b"{}"), relayed }
        }

        fn collection(connection: u64, relayed: RelayResult) -> Self {
            Self::new(Method::POST, "/v1/signals", connection, Some(relayed))
        }

        fn body(&self) -> Option<&Bytes> {
            self.relayed.as_ref().filter(|relayed| **relayed != RelayResult::BodyBroken).map(|_| &self.body)
        }
    }

    /// Page and service of one exchange.
    struct Recorded<'a>(&'a Exchange);

    impl EdgeIo for Recorded<'_> {
        async fn read(&mut self) -> RequestBody {
            match self.0.body() {
                Some(body) => RequestBody::Complete(body.clone()),
                None => RequestBody::Partial(Bytes::new()),
            }
        }

        async fn relay(&mut self, _body: Bytes) -> RelayResult {
            self.0.relayed.clone().expect("only collections are relayed")
        }
    }

    fn answered(status: u16, body: &'static str) -> RelayResult {
        let status = StatusCode::from_u16(status).unwrap();
        let body = (!status.is_success()).then(|| Bytes::from_static(body.as_bytes()));
        RelayResult::Answered { status, headers: HeaderMap::new(), body }
    }

    fn exchanges() -> Vec<Exchange> {
        let unknown = "<html>";
        vec![
            Exchange::new(Method::OPTIONS, "/v1/signals", 0, None),
            Exchange::collection(0, answered(200, "")),
            Exchange::collection(0, answered(401, r#"{"reason":"expired"}"#)),
            Exchange::collection(1, answered(503, unknown)),
            Exchange::collection(0, answered(418, r#"{"reason":"short_and_stout: x"}"#)),
            Exchange::collection(1, RelayResult::NoAnswer),
            Exchange::collection(1, answered(202, "")),
            Exchange::collection(3, RelayResult::BodyBroken),
            Exchange::collection(3, answered(403, unknown)),
            Exchange::new(Method::GET, "/health", 1, None),
            Exchange::new(Method::HEAD, "/v1/signals", 1, None),
            Exchange::new(Method::TRACE, "/v1/signals", 1, None),
            Exchange::new(Method::GET, "/nowhere", 1, None),
        ]
    }

    /// The answer of a live edge.
    fn live(rules: &EdgeRules, hooks: &Engine<EdgeEffect>, exchange: &Exchange) -> EdgeAction {
        let mut request = EdgeRequest {
            facts: &exchange.facts,
            query: "",
            headers: &exchange.headers,
            version: http::Version::HTTP_11,
            peer: PEER,
            connection: exchange.connection,
            body: None,
            relays: 0,
        };
        let action = handle_request(rules, hooks, &mut request, &mut Recorded(exchange)).now_or_never();
        action.flatten().unwrap()
    }

    /// The changed answer of a recorded exchange, as a pure function.
    fn replayed(
        rules: &EdgeRules,
        engine: &Engine<EdgeEffect>,
        history: &mut History,
        exchange: &Exchange,
    ) -> EdgeAction {
        let right = match (&exchange.relayed, decide(rules, &exchange.facts)) {
            (Some(relayed), _) => conclude(rules, &exchange.facts, relayed),
            (None, EdgeDecision::Answer(answer)) => answer,
            (None, other) => panic!("{other:?}"),
        };
        let right = Answer::from(right);
        let seen = Seen {
            peer: Some(PEER),
            connection: exchange.connection,
            body: exchange.body(),
            relays: u32::from(exchange.body().is_some()),
            relayed: exchange.relayed.as_ref(),
            answer: Some(&right),
            ..Seen::new(&exchange.facts.method, &exchange.facts.path, &exchange.headers, &engine.setup)
        };
        history.arrive(&seen);
        let effects = engine.effects_after(&seen, history).into_iter();
        let answer = effects.fold(right.clone(), |answer, effect| match effect {
            EdgeEffect::Answering(change) => change.apply(&seen, history, answer),
            other => panic!("{other:?}"),
        });
        history.conclude(&seen);
        EdgeAction::Answer(answer.into())
    }

    #[test]
    fn a_mutant_answers_a_recorded_exchange_as_a_live_one() {
        let spec = Arc::new(Spec::builtin(Version::Current));
        let rules = EdgeRules::new(&spec, spec.profile(), Some(ORIGIN_OF_PAGE)).unwrap();
        let settings =
            EdgeSettings { allowed_origin: Some(ORIGIN_OF_PAGE.into()), ..EdgeSettings::default() };
        let options = EdgeOptions::new(spec, settings, LogSink::new(drop));
        let is_answer = |effect: &EdgeEffect| matches!(effect, EdgeEffect::Answering(_));
        let mut changed = 0;
        let mutants = MUTANTS.into_iter().flatten();
        for mutant in mutants.filter(|mutant| is_answer(&mutant.then) && mutant.also.is_empty()) {
            for after in [Condition::Always, LATE] {
                let engine = || Engine::new(mutant, after, Setup::of_edge(&options));
                let (hooks, recorded, right) = (engine(), engine(), exchanges());
                let mut history = recorded.history.lock();
                for exchange in &right {
                    let replayed = replayed(&rules, &recorded, &mut history, exchange);
                    assert_eq!(live(&rules, &hooks, exchange), replayed, "{}", mutant.facts.name);
                    changed += 1;
                }
            }
        }
        assert!(changed > 2000, "{changed}");
    }
}
