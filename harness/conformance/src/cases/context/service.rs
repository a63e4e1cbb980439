use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::Secret;
use edgeproof_fixtures::key_set::without_private_parts;
use edgeproof_fixtures::spec::{Endpoint, Spec, Stimulus};
use edgeproof_http::{Draft, NoAnswer, ReusedConnection, Sent, ServerAddress, Violation};
use edgeproof_mock::MockService;
use edgeproof_mock::states::{StateReply, StateRequest};
use edgeproof_reports::Hop;
use edgeproof_targets::{HookError, RunningEdge};

use super::{CaseContext, CaseExchange, CaseTarget, VerdictRequest};
use super::{ServiceExchange, ServiceTraffic};
use crate::cases::PENDING;
use crate::judge::{AnswerResult, without_coding};
use crate::states::{StateNeed, States};

/// A service, a key set, or both, with the credentials to call them.
#[derive(Debug)]
pub struct ServiceTarget {
    /// The interface.
    pub spec: Arc<Spec>,
    /// Address of the verdict endpoint.
    pub service: Option<ServerAddress>,
    /// Address of the key set.
    pub keys: Option<ServerAddress>,
    /// The user's inputs.
    pub inputs: ServiceInputs,
    /// Its states. None: a foreign service without a hook.
    pub states: Option<Arc<States>>,
    /// What lives as long as the built-in service: the service itself, and an edge in front of it.
    pub builtin: Option<(Arc<MockService>, RunningEdge)>,
    /// All exchanges of the run.
    pub traffic: Arc<ServiceTraffic>,
    /// A text that no other run sends.
    pub run: String,
    /// Number of the last change of its keys that a case asked for; 0 without one.
    pub key_change: AtomicU64,
    /// Time by which cases moved its clock so far (s).
    pub moved: AtomicU64,
}

/// The user's inputs for requests to a service.
#[derive(Debug, Clone, Default)]
pub struct ServiceInputs {
    /// A valid read token.
    pub read_token: Option<Secret>,
    /// An expired read token.
    pub expired_token: Option<Secret>,
    /// A revoked read token.
    pub revoked_token: Option<Secret>,
    /// A valid read token of another license.
    pub other_token: Option<Secret>,
    /// A license.
    pub license: Option<Secret>,
    /// Reference of a session that has a verdict.
    pub session_ref: Option<String>,
}

/// The context of one case at a service or a key set: sends requests as the integrator's backend.
pub type ServiceCaseContext = CaseContext<ServiceTarget>;

impl ServiceTarget {
    /// A request for the verdict of a session, without a token.
    pub fn verdict_request(&self, reference: &str) -> VerdictRequest {
        VerdictRequest::new(self.spec.verdict_path(), reference)
    }

    /// A request for the key set.
    pub fn key_set_request(&self) -> Draft {
        key_set_draft(self.spec.path(Endpoint::KeySet))
    }
}

impl CaseTarget for ServiceTarget {
    type State = ();

    fn spec(&self) -> &Spec {
        &self.spec
    }
}

impl ServiceCaseContext {
    /// A session reference that no session has and no other case sends.
    pub fn reference(&self, name: &str) -> String {
        format!("edgeproof-{}-{}-{name}", self.target.run, self.marker)
    }

    /// The read token. Cases that send it require [`ServiceNeed::ReadToken`](crate::cases::ServiceNeed::ReadToken).
    pub fn read_token(&self) -> String {
        exposed(self.target.inputs.read_token.as_ref())
    }

    /// A revoked read token. Cases that send it require [`ServiceNeed::RevokedToken`](crate::cases::ServiceNeed).
    pub fn revoked_token(&self) -> String {
        exposed(self.target.inputs.revoked_token.as_ref())
    }

    /// A read token of another license. Cases that send it require [`ServiceNeed::OtherToken`](crate::cases::ServiceNeed).
    pub fn other_token(&self) -> String {
        exposed(self.target.inputs.other_token.as_ref())
    }

    /// A verdict request without a token.
    pub fn verdict(&self, reference: &str) -> VerdictRequest {
        self.target.verdict_request(reference)
    }

    /// A request for the key set.
    pub fn key_set(&self) -> Draft {
        self.target.key_set_request()
    }

    /// A verdict request with the read token.
    pub fn with_token(&self, reference: &str) -> VerdictRequest {
        self.verdict(reference).bearer(&self.read_token())
    }

    /// Address of the verdict endpoint. Cases of a service have it, and cases that require
    /// [`ServiceNeed::Session`](crate::cases::ServiceNeed::Session).
    pub fn service(&self) -> &ServerAddress {
        self.target.service.as_ref().expect("the plan contains only cases whose target is known")
    }

    /// Address of the key set. Cases of a key set have it.
    pub fn keys(&self) -> &ServerAddress {
        self.target.keys.as_ref().expect("the plan contains only cases whose target is known")
    }

    /// Whether the service can be brought into this state.
    pub fn supports(&self, state: StateNeed) -> bool {
        self.target.states.as_ref().is_some_and(|states| states.supports(state))
    }

    /// Brings the service into a state. None: it is not there; the case says why. Cases that ask for a state require it
    /// ([`ServiceNeed::State`](crate::cases::ServiceNeed::State)).
    pub async fn provide(&mut self, request: StateRequest) -> Option<StateReply> {
        match self.ask(&request).await {
            Ok(reply) => Some(reply),
            Err(why @ HookError::Unsupported) => {
                // What was found before stays.
                if self.found.checks.iter().all(|check| check.ok) {
                    self.found.not_applicable = Some(why.to_string());
                }
                None
            }
            Err(HookError::Failed(why)) => {
                self.found.not_run = Some(why);
                None
            }
        }
    }

    /// Brings the service into a state. The error does not end the case.
    pub async fn ask(&self, request: &StateRequest) -> Result<StateReply, HookError> {
        let states = self.target.states.as_ref().ok_or(HookError::Unsupported)?;
        let reply = states.provide(request).await?;
        if let Some(made) = reply.reference.as_deref().or(request.reference()) {
            self.target.traffic.note_session(made);
        }
        if let StateRequest::Later { seconds } = request {
            self.target.moved.fetch_add(*seconds, Ordering::Relaxed);
        }
        // With time, a retired key leaves the key set.
        if matches!(request, StateRequest::Rotate {} | StateRequest::Later { .. }) {
            self.target.key_change.store(self.target.traffic.change_keys(), Ordering::Relaxed);
        }
        Ok(reply)
    }

    /// Time by which cases moved the clock of the service so far.
    pub fn moved(&self) -> Duration {
        Duration::from_secs(self.target.moved.load(Ordering::Relaxed))
    }

    /// Value of `Authorization` that the service refuses for this cause. None: no such header, or no state hook.
    pub fn credential(&self, cause: Stimulus) -> Option<String> {
        Some(self.target.states.as_ref()?.credential(cause)?.expose().to_owned())
    }

    /// Value of `Authorization` that expires this time after the start of the run.
    pub fn expiring_credential(&self) -> Option<(String, Duration)> {
        let (authorization, expires) = self.target.states.as_ref()?.expiring()?;
        Some((authorization.expose().to_owned(), *expires))
    }

    /// Makes a session of this state. Yields its reference: the service may have made its own.
    pub async fn made(&mut self, request: StateRequest) -> Option<String> {
        let asked = request.reference().unwrap_or_default().to_owned();
        Some(self.provide(request).await?.reference.unwrap_or(asked))
    }

    /// Makes a session of this state with the reference that it asks for. None: the service makes its own; the case says so.
    pub async fn chosen(&mut self, request: StateRequest) -> Option<String> {
        let asked = request.reference().unwrap_or_default().to_owned();
        let made = self.made(request).await?;
        if made != asked {
            // What was found before stays.
            if self.found.checks.iter().all(|check| check.ok) {
                self.found.not_applicable =
                    Some(format!("the service makes its own reference for {asked:?}"));
            }
            return None;
        }
        Some(made)
    }

    /// Reference of a session that has a verdict now. None: no such session; the case is then marked as not run.
    pub async fn session(&mut self) -> Option<String> {
        if self.supports(StateNeed::Verdict) {
            return self.made(StateRequest::verdict(self.reference("session"))).await;
        }
        let reference = self.target.inputs.session_ref.clone()?;
        self.target.traffic.note_session(&reference);
        let reply = self.fetch_verdict(&self.with_token(&reference)).await;
        if self.has_status(PENDING, &reply) {
            self.found.not_run = Some(
                "the session of --session-ref has no verdict, or its verdict is too old; pass a session that finished less \
                 than two minutes ago"
                    .into(),
            );
            return None;
        }
        Some(reference)
    }

    /// Requests a verdict over a new connection.
    pub async fn fetch_verdict(&mut self, request: &VerdictRequest) -> AnswerResult {
        let timeout = self.timeout;
        self.fetch_verdict_within(request, timeout).await.reply
    }

    /// Requests a verdict with this timeout. The result contains the time that the request took.
    pub async fn fetch_verdict_within(&mut self, request: &VerdictRequest, timeout: Duration) -> Sent {
        self.send(&request.draft(), timeout).await
    }

    /// Sends any request to the verdict endpoint.
    pub async fn send(&mut self, draft: &Draft, timeout: Duration) -> Sent {
        let sent = self.begin(draft, timeout).await;
        self.record(draft, sent.clone());
        sent
    }

    /// Begins a request to the verdict endpoint. [`Self::record`] shows its end in the case's report.
    pub fn begin(&self, draft: &Draft, timeout: Duration) -> impl Future<Output = Sent> + Send + use<> {
        begin(self.service(), draft, timeout)
    }

    /// Begins a request to the key set. [`Self::record_keys`] shows its end in the case's report.
    pub fn begin_keys(&self, draft: &Draft) -> impl Future<Output = Sent> + Send + use<> {
        begin(self.keys(), draft, self.timeout)
    }

    /// Sends requests to this address in turn over one connection.
    pub async fn send_in_turn(&self, address: &ServerAddress, drafts: &[Draft]) -> Vec<Sent> {
        let sent = edgeproof_http::send_in_turn(address, drafts, self.timeout).await;
        sent.into_iter().map(without_coding).collect()
    }

    /// Sends requests to the verdict endpoint over one connection, without waiting for the answers between them.
    pub async fn send_pipelined(&self, drafts: &[Draft]) -> Vec<Sent> {
        let sent = edgeproof_http::send_pipelined(self.service(), drafts, self.timeout).await;
        sent.into_iter().map(without_coding).collect()
    }

    /// Sends a request to the verdict endpoint over a connection that stays open, if it is still open.
    pub async fn send_kept(&self, kept: &mut ReusedConnection, draft: &Draft) -> Sent {
        let mut sent = kept.send(self.service(), draft, self.timeout).await;
        // A server may close an idle connection at any time.
        if matches!(sent.reply, Err(NoAnswer::Closed | NoAnswer::Reset)) && sent.place.earlier > 0 {
            sent = kept.send(self.service(), draft, self.timeout).await;
        }
        without_coding(sent)
    }

    /// Sends a request to the verdict endpoint over HTTP/2. None: the service does not offer it.
    pub async fn send_http2(&self, draft: &Draft) -> Option<Sent> {
        edgeproof_http::send_http2(self.service(), draft, self.timeout).await.map(without_coding)
    }

    /// Sends a request to the key set.
    pub async fn fetch_key_set(&mut self, draft: &Draft) -> AnswerResult {
        let sent = self.begin_keys(draft).await;
        self.record_keys(draft, sent.clone());
        sent.reply
    }

    /// Records an exchange with the verdict endpoint.
    pub fn record(&mut self, draft: &Draft, sent: Sent) {
        let endpoint = self.service().clone();
        self.record_at(Hop::ClientService, &endpoint, draft, sent);
    }

    /// Records an exchange with the key set, without private keys.
    pub fn record_keys(&mut self, draft: &Draft, sent: Sent) {
        let violations = sent.violations.into_iter().map(Violation::without_excerpt).collect();
        let hidden = Sent { reply: without_private_keys(sent.reply), violations, ..sent };
        let endpoint = self.keys().clone();
        self.record_at(Hop::ClientKeys, &endpoint, draft, hidden);
    }

    /// Records an exchange with any server.
    pub fn record_at(&mut self, hop: Hop, endpoint: &ServerAddress, draft: &Draft, sent: Sent) {
        let curl = crate::curl::curl(endpoint, draft);
        self.trace(hop, draft, sent.clone());
        self.found.sent.push(CaseExchange { hop, sent, curl });
    }

    /// Records an exchange for the monitors. The case's report does not show it.
    pub fn trace(&self, hop: Hop, draft: &Draft, sent: Sent) {
        let (case, draft) = (self.case.clone(), draft.clone());
        let key_change = self.target.key_change.load(Ordering::Relaxed);
        let level = self.exchange_level();
        self.target.traffic.push(ServiceExchange { case, level, hop, draft, sent, key_change });
    }
}

/// A request for the key set at this path.
pub(crate) fn key_set_draft(path: &str) -> Draft {
    Draft::new("GET", path).header("Accept", "application/json")
}

/// Removes private keys that were published by mistake, so that no report repeats them. Members of a key stay and lose
/// their values. A body that is not JSON is replaced by its length, because it can contain a key in any form.
pub(crate) fn without_private_keys(mut reply: AnswerResult) -> AnswerResult {
    if let Ok(answer) = &mut reply
        && !answer.body.is_empty()
    {
        let length = answer.body.len();
        let hidden = || format!("[{length} bytes, not JSON; hidden because they can contain a private key]");
        answer.body = Bytes::from(without_private_parts(&answer.body).unwrap_or_else(hidden));
    }
    reply
}

/// The text of a secret; empty without one.
pub(crate) fn exposed(secret: Option<&Secret>) -> String {
    secret.map(|secret| secret.expose().to_owned()).unwrap_or_default()
}

/// Begins a request over a new connection.
fn begin(
    endpoint: &ServerAddress,
    draft: &Draft,
    timeout: Duration,
) -> impl Future<Output = Sent> + Send + use<> {
    let (endpoint, draft) = (endpoint.clone(), draft.clone());
    async move { without_coding(edgeproof_http::send(&endpoint, &draft, timeout).await) }
}
