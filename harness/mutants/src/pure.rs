//! Conversations without sockets: the decisions of edge and service, one after the other.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use bytes::Bytes;
use edgeproof_fixtures::credentials::{
    CredentialFiles, Credentials, EdgeSettings, Role, Secret, check_client_certificate, check_license,
};
use edgeproof_fixtures::seal::CollectionFault;
use edgeproof_fixtures::spec::Spec;
use edgeproof_reports::{CaseLevel as Level, Outcome};
use futures_util::FutureExt;
use http::header::{HeaderName, HeaderValue, ORIGIN};
use http::{HeaderMap, Method, StatusCode, Version};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use edgeproof::cases::{Case, CaseFindings, Conversation, MARKER, Play, collection, fill, judge};
use edgeproof::run::{ended, hides_reason, needs_plain_reasons, reason_probes};
use edgeproof::target::Setup;
use edgeproof_edge::{
    EdgeAction, EdgeAnswer, EdgeFaultHooks, EdgeIo, EdgeRequest, Relayed, RequestBody, RequestFacts, Rules,
    handle_request,
};
use edgeproof_http::TlsFacts;
use edgeproof_http::{Draft, NoAnswer};
use edgeproof_mock::{Action, Arrival, Replay, ReplyShape, Script, ServiceEndpoint};

/// What conversations are played with: the tables, and the credentials of edge and service.
#[derive(Debug)]
pub struct PureWorld {
    /// The interface.
    pub spec: Arc<Spec>,
    /// How the service words a refusal.
    pub shape: ReplyShape,
    /// The credentials.
    pub credentials: Arc<Credentials>,
    /// The same as files.
    pub files: CredentialFiles,
}

/// What a case found that was played so, and how it ended.
#[derive(Debug)]
pub struct PurePlay {
    /// What it found.
    pub found: CaseFindings,
    /// How it ended.
    pub outcome: Outcome,
    /// Why.
    pub because: String,
}

impl PureWorld {
    /// Plays a case, if it is one conversation. `reads_reasons`: as [`Self::reads_reasons`] found it.
    pub fn play(&self, case: &Case, hooks: &dyn EdgeFaultHooks, reads_reasons: bool) -> Option<PurePlay> {
        let conversations: Vec<(&str, &Conversation)> = match &case.play {
            Play::Conversation(conversation) => vec![("", conversation)],
            Play::Each(all) => all.iter().map(|(name, conversation)| (name.as_str(), conversation)).collect(),
            Play::EdgeSteps(_) | Play::ServiceSteps(_) => return None,
        };
        if conversations.iter().any(|(_, conversation)| breaks_off(conversation)) {
            return None;
        }
        if !reads_reasons && needs_plain_reasons(case) {
            let because = "the edge reads no reason of the mock service".to_owned();
            return Some(PurePlay { found: CaseFindings::default(), outcome: Outcome::NotRun, because });
        }
        let mut found = CaseFindings::default();
        for (name, conversation) in conversations {
            let mut part = self.converse(conversation, case.setup, case.level, hooks);
            if !name.is_empty() {
                part.checks = part.checks.into_iter().map(|check| check.of(name)).collect();
            }
            found.checks.append(&mut part.checks);
            found.arrivals.append(&mut part.arrivals);
        }
        let (outcome, because) = ended(case.level, &found);
        Some(PurePlay { found, outcome, because })
    }

    /// Whether the edge passes a reason of the service on. A run probes this first: otherwise all cases about reasons
    /// fail for one cause.
    pub fn reads_reasons(&self, hooks: &dyn EdgeFaultHooks) -> bool {
        !reason_probes(&self.spec).into_iter().all(|(status, reason)| {
            let probe = Conversation {
                draft: collection(),
                script: Some(Script::refuse(&self.shape, status, reason)),
                answer: None,
                relayed: edgeproof::cases::Relayed::Unjudged,
                readable: None,
                typed: None,
            };
            hides_reason(&self.spec, status, &self.exchange(&probe, Setup::Standard, hooks).1)
        })
    }

    fn converse(
        &self,
        conversation: &Conversation,
        setup: Setup,
        level: Level,
        hooks: &dyn EdgeFaultHooks,
    ) -> CaseFindings {
        let (draft, reply, arrivals) = self.exchange(conversation, setup, hooks);
        let origin = self.settings(setup).allowed_origin.unwrap_or_default();
        let mut found = CaseFindings::default();
        for mut check in judge(conversation, &draft, &origin, &reply, &arrivals) {
            check.level = check.level.max(level);
            found.checks.push(check);
        }
        found.arrivals = arrivals;
        found
    }

    fn exchange(
        &self,
        conversation: &Conversation,
        setup: Setup,
        hooks: &dyn EdgeFaultHooks,
    ) -> (Draft, Result<edgeproof_http::Answer, NoAnswer>, Vec<Arrival>) {
        let settings = self.settings(setup);
        let draft = fill(
            &conversation.draft,
            &MARKER.replace(['{', '}'], "m"),
            settings.allowed_origin.as_deref().unwrap_or_default(),
        );
        let Ok(rules) = Rules::new(&self.spec, self.spec.profile(), settings.allowed_origin.as_deref())
        else {
            return (draft, Err(NoAnswer::Closed), Vec::new());
        };
        let headers = headers(&draft);
        let facts = RequestFacts {
            method: Method::from_bytes(draft.method.as_bytes()).unwrap_or_default(),
            path: draft.path.split('?').next().unwrap_or_default().to_owned(),
            origin: headers.get(ORIGIN).cloned(),
            websocket: false,
        };
        let mut asked = EdgeRequest {
            facts: &facts,
            headers: &headers,
            version: Version::HTTP_11,
            peer: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            connection: 0,
            body: None,
        };
        let mut service = Service {
            world: self,
            conversation,
            setup,
            settings: &settings,
            page: &headers,
            request: Bytes::copy_from_slice(draft.body.bytes()),
            arrivals: Vec::new(),
        };
        let action = handle_request(&rules, hooks, &mut asked, &mut service).now_or_never();
        let reply = match action.expect("this service never waits") {
            Some(EdgeAction::Answer(answer)) => Ok(on_the_wire(&facts, answer)),
            Some(EdgeAction::Silence) => Err(NoAnswer::TimedOut(std::time::Duration::ZERO)),
            Some(EdgeAction::Nothing) | None => Err(NoAnswer::Closed),
        };
        let arrivals = service.arrivals;
        (draft, reply, arrivals)
    }

    fn settings(&self, setup: Setup) -> EdgeSettings {
        setup.settings(&self.credentials, &self.files, "https://localhost")
    }
}

/// The service behind the edge, and what arrived there.
struct Service<'a> {
    world: &'a PureWorld,
    conversation: &'a Conversation,
    setup: Setup,
    settings: &'a EdgeSettings,
    page: &'a HeaderMap,
    request: Bytes,
    arrivals: Vec<Arrival>,
}

impl EdgeIo for Service<'_> {
    async fn read(&mut self) -> RequestBody {
        RequestBody::Complete(self.request.clone())
    }

    async fn relay(&mut self, body: Bytes) -> Relayed {
        // No service listens there, or the edge does not trust it.
        if matches!(self.setup, Setup::PortClosed | Setup::NameUnresolved | Setup::NoCaFile) {
            return Relayed::NoAnswer;
        }
        self.answer(&body)
    }
}

impl Service<'_> {
    fn answer(&mut self, body: &Bytes) -> Relayed {
        let accepted = |status: u16, body: &Bytes| {
            let status = StatusCode::from_u16(status).unwrap_or_default();
            Relayed::Answered { status, body: (!status.is_success()).then(|| body.clone()) }
        };
        let replies = self.conversation.script.as_ref().map(|script| script.replies.as_slice());
        let replies = replies.unwrap_or_default();
        let reply = replies
            .last()
            .map(|last| &replies[Script::place(replies.len(), &last.action, self.arrivals.len())]);
        let relayed = match reply.map_or(&Action::Decide, |reply| &reply.action) {
            Action::Decide | Action::Pass | Action::Again | Action::CutDecision { .. } => {
                let (status, body) = self.decide(body);
                accepted(status, &body)
            }
            Action::Answer { status, body, .. } => accepted(*status, body),
            Action::CutBody { status, .. } => {
                Relayed::Answered { status: StatusCode::from_u16(*status).unwrap_or_default(), body: None }
            }
            Action::Raw(_) | Action::CutHead | Action::Close | Action::Reset | Action::Silence => {
                Relayed::NoAnswer
            }
        };
        self.arrivals.push(arrival(body, self.page, self.arrivals.len() as u64));
        relayed
    }

    /// What the service decides by itself.
    fn decide(&self, body: &Bytes) -> (u16, Bytes) {
        let PureWorld { spec, shape, credentials, .. } = self.world;
        let now = SystemTime::now();
        let (keys, revocations) = (credentials.keys(), credentials.revocations());
        let license = self.settings.license.as_ref().map(Secret::expose);
        let license = check_license(license, keys, revocations, now);
        let file = self.settings.client_key_file.as_ref().and(self.settings.client_cert_file.as_ref());
        let chain: Vec<CertificateDer<'static>> = file
            .and_then(|file| CertificateDer::pem_file_iter(file).ok())
            .map(|chain| chain.filter_map(Result::ok).collect())
            .unwrap_or_default();
        let certificate = check_client_certificate(
            &chain,
            credentials.certificate(Role::ClientAuthority).der(),
            license.as_ref().map(|license| license.license_id.as_str()).unwrap_or_default(),
            revocations,
            now,
        );
        let facts = edgeproof_mock::CollectionFacts {
            license,
            outage: None,
            certificate,
            body_length: body.len() as u64,
            // What cases send without a script of the service's is none: they are about what comes before that.
            collection: Err(CollectionFault::Unsealed),
            replay: Replay::Fresh,
        };
        let decision = edgeproof_mock::decide(spec, spec.profile(), shape, &facts);
        (decision.status, decision.body)
    }
}

/// Where an answer of the service's own breaks off, only the wire can tell what is left of it.
fn breaks_off(conversation: &Conversation) -> bool {
    let replies = conversation.script.iter().flat_map(|script| &script.replies);
    replies.into_iter().any(|reply| matches!(reply.action, Action::CutDecision { .. }))
}

/// What a page gets of an answer.
fn on_the_wire(facts: &RequestFacts, answer: EdgeAnswer) -> edgeproof_http::Answer {
    let status = answer.status.as_u16();
    let bodyless = facts.method == Method::HEAD || matches!(status, 204 | 304);
    let body = if bodyless { Bytes::new() } else { answer.body };
    edgeproof_http::Answer {
        status,
        version: Version::HTTP_11,
        headers: answer.headers,
        body,
        complete: true,
    }
}

fn arrival(body: &Bytes, page: &HeaderMap, number: u64) -> Arrival {
    let request = edgeproof_http::Request {
        method: "POST".into(),
        target: "/".into(),
        version: Version::HTTP_11,
        headers: page.clone(),
        body: body.clone(),
        complete: true,
    };
    Arrival {
        number,
        endpoint: ServiceEndpoint::Relay,
        request,
        body_length: body.len() as u64,
        at: Instant::now(),
        answered: None,
        answer: None,
        finished: true,
        claimed: true,
        cause: None,
        client_certificates: Arc::default(),
        tls: None::<TlsFacts>,
        connection: 0,
    }
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
