use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use edgeproof::cases::{
    Case, CaseFacts, CaseFindings, Conversation, Edge, EdgeNeed, ExpectedRelay, MARKER, Procedure, Setup,
    fill, judge,
};
use edgeproof::judge::{ExpectedAnswer, RelayedRequests};
use edgeproof::run::{hides_reason, outcome_of, reason_probes};
use edgeproof_edge::{
    EdgeAction, EdgeAnswer, EdgeFaultHooks, EdgeRequest, EdgeRules, RequestFacts, handle_request,
};
use edgeproof_http::{Answer, Draft, NoAnswer};
use edgeproof_mock::{Action, Arrival, Script};
use edgeproof_reports::Outcome;
use futures_util::FutureExt;
use http::header::{HeaderName, HeaderValue, ORIGIN};
use http::{HeaderMap, Method, Version};

use super::pure_result::PureResult;
use super::scripted_service::ScriptedService;
use super::test_bed::TestBed;

/// An edge's reply to one request, and the requests that reached the service.
struct PureExchange {
    draft: Draft,
    reply: Result<Answer, NoAnswer>,
    arrivals: Vec<Arrival>,
}

impl TestBed {
    /// Runs a case against an edge with these hooks without sockets: only the decisions of edge and service run.
    /// `None`: the case needs sockets. `reads_reasons`: result of [`Self::reads_reasons`].
    pub fn play_pure(
        &self,
        case: &CaseFacts,
        hooks: &dyn EdgeFaultHooks,
        reads_reasons: bool,
    ) -> Option<PureResult> {
        self.parts.iter().find_map(|part| part.play_pure(self, &case.id, hooks, reads_reasons))
    }

    /// Whether the edge passes a reason of the service on. A run probes this first: otherwise all cases about reasons
    /// fail for one cause.
    pub fn reads_reasons(&self, hooks: &dyn EdgeFaultHooks) -> bool {
        !reason_probes(&self.spec).into_iter().all(|(status, reason)| {
            let script = Script::refuse(&self.shape, status, reason);
            let answer = ExpectedAnswer { status, body: None, to_head: false };
            let probe = Conversation::post(script, answer).relay(ExpectedRelay::Any);
            hides_reason(&self.spec, status, &self.exchange(&probe, Setup::Standard, hooks).reply)
        })
    }

    fn exchange(
        &self,
        conversation: &Conversation,
        setup: Setup,
        hooks: &dyn EdgeFaultHooks,
    ) -> PureExchange {
        let settings = self.settings(setup);
        let origin = settings.allowed_origin.as_deref();
        let marker = MARKER.replace(['{', '}'], "m");
        let draft = fill(&conversation.draft, &self.spec, &marker, origin.unwrap_or_default());
        let Ok(rules) = EdgeRules::new(&self.spec, self.spec.profile(), origin) else {
            return PureExchange { draft, reply: Err(NoAnswer::Closed), arrivals: Vec::new() };
        };
        let headers = headers(&draft);
        let facts = RequestFacts {
            method: Method::from_bytes(draft.method.as_bytes()).unwrap_or_default(),
            path: draft.path.split('?').next().unwrap_or_default().to_owned(),
            origin: headers.get(ORIGIN).cloned(),
            websocket: false,
        };
        let mut request = EdgeRequest {
            facts: &facts,
            query: draft.path.split_once('?').map_or("", |(_, query)| query),
            headers: &headers,
            version: Version::HTTP_11,
            peer: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            connection: 0,
            body: None,
            relays: 0,
        };
        let mut service = ScriptedService {
            bed: self,
            conversation,
            setup,
            settings: &settings,
            headers: &headers,
            body: Bytes::copy_from_slice(draft.body.bytes()),
            arrivals: Vec::new(),
        };
        let action = handle_request(&rules, hooks, &mut request, &mut service).now_or_never();
        let reply = match action.expect("a scripted service never waits") {
            // There are no bytes on the wire here, and there is no clock.
            Some(EdgeAction::Answer(answer) | EdgeAction::Later(_, answer) | EdgeAction::Raw(answer, _)) => {
                Ok(received(&facts, answer))
            }
            Some(EdgeAction::Silence) => Err(NoAnswer::TimedOut(Duration::ZERO)),
            Some(EdgeAction::Nothing) | None => Err(NoAnswer::Closed),
        };
        let arrivals = service.arrivals;
        PureExchange { draft, reply, arrivals }
    }
}

/// Plays the conversations of a case.
pub(super) fn play(
    bed: &TestBed,
    case: &Case<Edge>,
    hooks: &dyn EdgeFaultHooks,
    reads_reasons: bool,
) -> Option<PureResult> {
    let conversations: Vec<(&str, &Conversation)> = match &case.procedure {
        Procedure::Exchange(conversation) => vec![("", conversation)],
        Procedure::Exchanges(all) => {
            all.iter().map(|(name, conversation)| (name.as_str(), conversation)).collect()
        }
        Procedure::Steps(_) | Procedure::Monitor(_) => return None,
    };
    let needs_sockets =
        |conversation: &Conversation| !conversation.rules.is_empty() || breaks_off(conversation);
    if case.settings.listener.is_some() || conversations.iter().any(|(_, one)| needs_sockets(one)) {
        return None;
    }
    let mut found = CaseFindings::default();
    if !reads_reasons && case.needs.contains(&EdgeNeed::PlainReasons) {
        return Some(PureResult { found, outcome: Outcome::NotRun });
    }
    let setup = case.settings.setup;
    for (name, conversation) in conversations {
        let PureExchange { draft, reply, arrivals } = bed.exchange(conversation, setup, hooks);
        let origin = bed.settings(setup).allowed_origin.clone().unwrap_or_default();
        let relayed = RelayedRequests::new(arrivals);
        for mut check in judge(conversation, &draft, &origin, &reply, &relayed) {
            check.level = check.level.max(case.level);
            found.checks.push(if name.is_empty() { check } else { check.of(name) });
        }
    }
    let (outcome, _) = outcome_of(case.level, &found);
    Some(PureResult { found, outcome })
}

/// Whether the service breaks its answer off: only a socket shows the received part.
fn breaks_off(conversation: &Conversation) -> bool {
    let replies = conversation.script.iter().flat_map(|script| &script.replies);
    replies.into_iter().any(|reply| matches!(reply.action, Action::CutDecision { .. }))
}

/// The answer as the page receives it.
fn received(facts: &RequestFacts, answer: EdgeAnswer) -> Answer {
    let status = answer.status.as_u16();
    let bodyless = facts.method == Method::HEAD || matches!(status, 204 | 304);
    let body = if bodyless { Bytes::new() } else { answer.body };
    Answer { status, version: Version::HTTP_11, headers: answer.headers, body, complete: true }
}

fn headers(draft: &Draft) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in &draft.headers {
        if let (Ok(name), Ok(value)) =
            (HeaderName::try_from(name.as_str()), HeaderValue::try_from(value.as_str()))
        {
            headers.append(name, value);
        }
    }
    headers
}
