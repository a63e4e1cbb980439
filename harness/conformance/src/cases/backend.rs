use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::{Credentials, Secret};
use edgeproof_fixtures::key_set::without_private_parts;
use edgeproof_reports::{CaseLevel as Level, Hop};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{CaseExchange, CaseFindings};
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

/// What was given to ask with.
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
pub struct Backend {
    /// What it stands before.
    pub target: Arc<ServiceTarget>,
    /// Longest wait for an answer, unless a case says otherwise.
    pub limit: Duration,
    /// What was found so far.
    pub found: CaseFindings,
    marker: String,
    level: Level,
}

/// A request for a verdict.
#[derive(Debug, Clone)]
pub struct Ask {
    method: String,
    reference: String,
    authorization: Option<String>,
    query: Option<String>,
}

impl Ask {
    /// For this session's verdict, without a token.
    pub fn new(reference: &str) -> Self {
        Self { method: "GET".into(), reference: reference.into(), authorization: None, query: None }
    }

    /// With this bearer.
    #[must_use]
    pub fn bearer(self, token: &str) -> Self {
        self.authorization(&format!("Bearer {token}"))
    }

    /// With this `Authorization`.
    #[must_use]
    pub fn authorization(mut self, value: &str) -> Self {
        self.authorization = Some(value.into());
        self
    }

    /// With this query, written as it is.
    #[must_use]
    pub fn query(mut self, query: &str) -> Self {
        self.query = Some(query.into());
        self
    }

    /// With another method.
    #[must_use]
    pub fn method(mut self, method: &str) -> Self {
        self.method = method.into();
        self
    }

    /// As it is sent.
    pub fn draft(&self) -> Draft {
        let mut path = format!("{VERDICT}{}", encode(&self.reference));
        if let Some(query) = &self.query {
            path = format!("{path}?{query}");
        }
        let draft = Draft::new(&self.method, &path).header("Accept", "application/json");
        match &self.authorization {
            Some(value) => draft.header("Authorization", value),
            None => draft,
        }
    }
}

/// Path of the interface before a session reference.
const VERDICT: &str = "/v1/verdict/";
/// Path of the interface for the key set.
const KEYS: &str = "/.well-known/browser-verdict-jwks.json";

impl Backend {
    /// A backend for one case; `marker` is a text that no other case of this run has.
    pub fn new(target: Arc<ServiceTarget>, marker: String, level: Level, limit: Duration) -> Self {
        Self { target, limit, found: CaseFindings::default(), marker, level }
    }

    /// A session reference that no session has, and that no other case asks for.
    pub fn reference(&self, name: &str) -> String {
        format!("edgeproof-{}-{}-{name}", self.target.run, self.marker)
    }

    /// The read token. Cases that use it need [`super::Need::ReadToken`].
    pub fn read_token(&self) -> String {
        exposed(self.target.inputs.read_token.as_ref())
    }

    /// Where the service is. Cases of a service have one, and so do those that need [`super::Need::Session`].
    pub fn service(&self) -> &ServerAddress {
        self.target.service.as_ref().expect("a case is planned only where its target is")
    }

    /// Our mock, and what it knows. Cases that need [`super::Need::Mock`] have it.
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
        let reply = self.ask(&Ask::new(&reference).bearer(&self.read_token())).await;
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
    pub async fn ask(&mut self, ask: &Ask) -> Reply {
        let limit = self.limit;
        self.ask_within(ask, limit).await.reply
    }

    /// The same, with another limit, and with the time that it took.
    pub async fn ask_within(&mut self, ask: &Ask, limit: Duration) -> Sent {
        self.send(&ask.draft(), limit).await
    }

    /// Sends any request to the service.
    pub async fn send(&mut self, draft: &Draft, limit: Duration) -> Sent {
        let endpoint = self.service().clone();
        self.send_to(&endpoint, Hop::ClientService, draft, limit).await
    }

    /// Asks for the key set.
    pub async fn ask_keys(&mut self, draft: &Draft) -> Reply {
        let endpoint = self.target.keys.clone().expect("a case is planned only where its target is");
        self.send_to(&endpoint, Hop::ClientKeys, draft, self.limit).await.reply
    }

    /// Notes what was sent for the key set by other means.
    pub fn record_keys(&mut self, draft: &Draft, sent: Sent) {
        if let Some(endpoint) = self.target.keys.clone() {
            let shown = Sent { reply: shown(sent.reply), ..sent };
            self.record(Hop::ClientKeys, &endpoint, draft, shown);
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
    pub fn observe(&mut self, point: &str, saw: impl Into<String>) {
        self.found.observations.push((point.into(), saw.into()));
    }

    /// A text without what differs from run to run.
    pub fn without_marks(&self, text: &str) -> String {
        text.replace(&self.marker, "…").replace(&self.target.run, "…")
    }

    async fn send_to(&mut self, endpoint: &ServerAddress, hop: Hop, draft: &Draft, limit: Duration) -> Sent {
        let sent = edgeproof_http::send(endpoint, draft, limit).await;
        match hop {
            Hop::ClientKeys => self.record_keys(draft, sent.clone()),
            _ => self.record(hop, endpoint, draft, sent.clone()),
        }
        sent
    }
}

/// A request for the key set.
pub fn fetch_keys() -> Draft {
    Draft::new("GET", KEYS).header("Accept", "application/json")
}

/// An answer, or why there is none.
pub(super) type Reply = Result<Answer, NoAnswer>;

/// A key set as it is shown: a private key that was published by mistake goes no further: its members stay, their values go. What is no JSON is told
/// by its length alone, for it may hold one in any form.
pub(super) fn shown(mut reply: Reply) -> Reply {
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
pub(super) fn exposed(secret: Option<&Secret>) -> String {
    secret.map(|secret| secret.expose().to_owned()).unwrap_or_default()
}

/// All but unreserved characters (RFC 3986 §2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A reference as one segment of a path (RFC 3986 §3.3).
pub(super) fn encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}
