use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::{Credentials, Secret};
use edgeproof_fixtures::key_set::without_private_parts;
use edgeproof_reports::{Hop, Level};

use super::{CaseExchange, CaseFindings, VerdictRequest};
use crate::judge::Check;
use crate::target::RunningEdge;
use edgeproof_http::{Answer, Draft, NoAnswer, Sent, ServerAddress};
use edgeproof_mock::{MockService, NewSession};

/// What a backend stands before: a service, a key set, or both, and what was given to open them.
#[derive(Debug)]
pub struct ServiceTarget {
    /// Where verdicts are given.
    pub service: Option<ServerAddress>,
    /// Where the key set is published.
    pub keys: Option<ServerAddress>,
    /// What was given.
    pub inputs: ServiceInputs,
    /// The service is our mock.
    pub mock: Option<Arc<MockService>>,
    /// What our mock knows.
    pub credentials: Option<Arc<Credentials>>,
    /// An edge that relays to our mock.
    pub edge: Option<RunningEdge>,
    /// A text that no other run sends.
    pub run: String,
}

/// What was given to request with.
#[derive(Debug, Clone, Default)]
pub struct ServiceInputs {
    /// A read token that is accepted.
    pub read_token: Option<Secret>,
    /// A read token that has expired.
    pub expired_token: Option<Secret>,
    /// A license.
    pub license: Option<Secret>,
    /// Reference of a session that has a verdict.
    pub session_ref: Option<String>,
}

/// One case in the place of an integrator's backend, and everything that it finds.
pub struct ServiceCaseContext {
    /// What it stands before.
    pub target: Arc<ServiceTarget>,
    /// Longest wait for an answer, unless a case says otherwise.
    pub timeout: Duration,
    /// What was found so far.
    pub found: CaseFindings,
    marker: String,
    level: Level,
}

impl ServiceCaseContext {
    /// A backend for one case; `marker` is a text that no other case of this run has.
    pub fn new(target: Arc<ServiceTarget>, marker: String, level: Level, timeout: Duration) -> Self {
        Self { target, timeout, found: CaseFindings::default(), marker, level }
    }

    /// A session reference that no session has, and that no other case asks for.
    pub fn reference(&self, name: &str) -> String {
        format!("edgeproof-{}-{}-{name}", self.target.run, self.marker)
    }

    /// The read token. Cases that use it need [`crate::cases::Prerequisite::ReadToken`].
    pub fn read_token(&self) -> String {
        exposed(self.target.inputs.read_token.as_ref())
    }

    /// Where the service is. Cases of a service have one, and so do those that need [`crate::cases::Prerequisite::Session`].
    pub fn service(&self) -> &ServerAddress {
        self.target.service.as_ref().expect("a case is planned only where its target is")
    }

    /// Our mock, and what it knows. Cases that need [`crate::cases::Prerequisite::Mock`] have it.
    pub fn ours(&self) -> Option<(&MockService, &Credentials)> {
        Some((self.target.mock.as_deref()?, self.target.credentials.as_deref()?))
    }

    /// Reference of a session that has a verdict now. None: there is none, and the case is told why it cannot be played.
    pub async fn session(&mut self) -> Option<String> {
        if let Some(mock) = &self.target.mock {
            let reference = self.reference("session");
            mock.add_session(NewSession::new(reference.clone()));
            return Some(reference);
        }
        let reference = self.target.inputs.session_ref.clone()?;
        let reply = self.fetch_verdict(&VerdictRequest::new(&reference).bearer(&self.read_token())).await;
        if reply.is_ok_and(|answer| answer.status == 404) {
            self.found.not_run = Some(
                "the session of --session-ref has no verdict, or one that is too old: give the reference of a session that \
                 finished less than two minutes ago"
                    .into(),
            );
            return None;
        }
        Some(reference)
    }

    /// Asks the service, over a connection of its own.
    pub async fn fetch_verdict(&mut self, request: &VerdictRequest) -> Reply {
        let timeout = self.timeout;
        self.fetch_verdict_within(request, timeout).await.reply
    }

    /// The same, with another timeout, and with the time that it took.
    pub async fn fetch_verdict_within(&mut self, request: &VerdictRequest, timeout: Duration) -> Sent {
        self.send(&request.draft(), timeout).await
    }

    /// Sends any request to the service.
    pub async fn send(&mut self, draft: &Draft, timeout: Duration) -> Sent {
        let endpoint = self.service().clone();
        self.send_to(&endpoint, Hop::ClientService, draft, timeout).await
    }

    /// Asks for the key set.
    pub async fn fetch_key_set(&mut self, draft: &Draft) -> Reply {
        let endpoint = self.target.keys.clone().expect("a case is planned only where its target is");
        self.send_to(&endpoint, Hop::ClientKeys, draft, self.timeout).await.reply
    }

    /// Notes what was sent for the key set by other means.
    pub fn record_keys(&mut self, draft: &Draft, sent: Sent) {
        if let Some(endpoint) = self.target.keys.clone() {
            let hidden = Sent { reply: without_private_keys(sent.reply), ..sent };
            self.record(Hop::ClientKeys, &endpoint, draft, hidden);
        }
    }

    /// Notes what was sent by other means.
    pub fn record(&mut self, hop: Hop, endpoint: &ServerAddress, draft: &Draft, sent: Sent) {
        let curl = crate::curl::curl(endpoint, draft);
        self.found.sent.push(CaseExchange { hop, sent, curl });
    }

    /// Adds a check. One that weighs `must` weighs no more than its case.
    pub fn check(&mut self, check: Check) {
        self.found.check(check, self.level);
    }

    /// Adds checks.
    pub fn checks(&mut self, checks: Vec<Check>) {
        for check in checks {
            self.check(check);
        }
    }

    /// Notes how the target behaves at an open point.
    pub fn observe(&mut self, point: &str, observed: impl Into<String>) {
        self.found.observations.push((point.into(), observed.into()));
    }

    /// A text without what differs from run to run.
    pub fn without_marks(&self, text: &str) -> String {
        text.replace(&self.marker, "…").replace(&self.target.run, "…")
    }

    async fn send_to(
        &mut self,
        endpoint: &ServerAddress,
        hop: Hop,
        draft: &Draft,
        timeout: Duration,
    ) -> Sent {
        let sent = edgeproof_http::send(endpoint, draft, timeout).await;
        match hop {
            Hop::ClientKeys => self.record_keys(draft, sent.clone()),
            _ => self.record(hop, endpoint, draft, sent.clone()),
        }
        sent
    }
}

/// An answer, or why there is none.
pub(crate) type Reply = Result<Answer, NoAnswer>;

/// A key set as it is shown: a private key that was published by mistake goes no further: its members stay, their values go. What is no JSON is told
/// by its length alone, for it may hold one in any form.
pub(crate) fn without_private_keys(mut reply: Reply) -> Reply {
    if let Ok(answer) = &mut reply
        && !answer.body.is_empty()
    {
        let length = answer.body.len();
        let hidden = || format!("[{length} bytes that are no JSON: not shown, for a key may be in them]");
        answer.body = Bytes::from(without_private_parts(&answer.body).unwrap_or_else(hidden));
    }
    reply
}

/// The text of a secret that was given; of one that was not, nothing.
pub(crate) fn exposed(secret: Option<&Secret>) -> String {
    secret.map(|secret| secret.expose().to_owned()).unwrap_or_default()
}
