use std::time::Duration;

use edgeproof_fixtures::spec::{Spec, VerdictPath};
use edgeproof_http::{Draft, NoAnswer};
use edgeproof_mock::{NewSession, Ready};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::rule::{VerdictObservation, VerdictRule};
use super::token_choice::TokenChoice;
use crate::cases::{Exchange, ServiceCaseContext, ServiceTarget, VerdictRequest};
use crate::request_text::{EXAMPLE_SERVICE, example_address, request_lines};

/// One request for a verdict with its expected answer: pure data.
#[derive(Debug, Clone)]
pub struct VerdictExchange {
    session: Session,
    token: TokenChoice,
    method: &'static str,
    query: Option<&'static str>,
    /// Timeout of the answer. None: that of the run.
    timeout: Option<Duration>,
    rules: Vec<VerdictRule>,
}

/// The session of a request.
#[derive(Debug, Clone)]
enum Session {
    /// No session. Its reference is unique to the case and ends with this text.
    Unknown(&'static str),
    /// As `Unknown`, without percent-encoding.
    Unencoded(&'static str),
    /// The last segment of the path, without percent-encoding.
    Segment(String),
    /// It has a verdict.
    WithVerdict,
    /// Added to the built-in mock, with a reference as of `Unknown`.
    Added(&'static str, AddedSession),
}

/// A session that a case adds to the built-in mock.
#[derive(Debug, Clone, Copy)]
pub(super) struct AddedSession {
    /// When its verdict is ready.
    pub(super) ready: Ready,
    /// It belongs to another license than the read token.
    pub(super) other_license: bool,
}

impl VerdictExchange {
    /// A request with the read token for a session that does not exist. `name`: the end of its reference.
    pub(super) fn unknown(name: &'static str) -> Self {
        Self::of(Session::Unknown(name))
    }

    /// As [`Self::unknown`], with the reference in the path as it is.
    pub(super) fn unencoded(name: &'static str) -> Self {
        Self::of(Session::Unencoded(name))
    }

    /// A request with the read token for this last segment of the path.
    pub(super) fn segment(segment: impl Into<String>) -> Self {
        Self::of(Session::Segment(segment.into()))
    }

    /// A request with the read token for a session that has a verdict.
    pub(super) fn with_verdict() -> Self {
        Self::of(Session::WithVerdict)
    }

    /// A request with the read token for a session that is added to the built-in mock before.
    pub(super) fn added(name: &'static str, session: AddedSession) -> Self {
        Self::of(Session::Added(name, session))
    }

    fn of(session: Session) -> Self {
        let token = TokenChoice::Valid;
        Self { session, token, method: "GET", query: None, timeout: None, rules: Vec::new() }
    }

    /// Replaces the credential.
    #[must_use]
    pub(super) fn token(self, token: TokenChoice) -> Self {
        Self { token, ..self }
    }

    /// Replaces the method.
    #[must_use]
    pub(super) fn method(self, method: &'static str) -> Self {
        Self { method, ..self }
    }

    /// Sets the query.
    #[must_use]
    pub(super) fn query(self, query: impl Into<Option<&'static str>>) -> Self {
        Self { query: query.into(), ..self }
    }

    /// Replaces the timeout of the answer.
    #[must_use]
    pub(super) fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// Adds what the answer has to be.
    #[must_use]
    pub(super) fn expect(mut self, rule: impl Into<Option<VerdictRule>>) -> Self {
        self.rules.extend(rule.into());
        self
    }

    /// Observes this of the answer.
    #[must_use]
    pub(super) fn observe(self, seen: VerdictObservation) -> Self {
        self.expect(VerdictRule::Observe(seen))
    }

    fn draft(&self, path: &VerdictPath, reference: &str, authorization: Option<&str>) -> Draft {
        let request = match self.session {
            Session::Unencoded(_) | Session::Segment(_) => VerdictRequest::unencoded(path, reference),
            _ => VerdictRequest::new(path, reference),
        };
        let mut request = request.method(self.method);
        if let Some(query) = self.query {
            request = request.query(query);
        }
        if let Some(value) = authorization {
            request = request.authorization(value);
        }
        request.draft()
    }
}

impl Exchange<ServiceTarget> for VerdictExchange {
    fn play<'a>(&'a self, context: &'a mut ServiceCaseContext) -> BoxFuture<'a, bool> {
        async move {
            let Some(reference) = self.session.reference(context).await else { return true };
            let authorization = match self.token.authorization(context) {
                Ok(authorization) => authorization,
                Err(why) => {
                    context.found.not_applicable = Some(why.to_string());
                    return true;
                }
            };
            let draft = self.draft(context.spec().verdict_path(), &reference, authorization.as_deref());
            let sent = context.send(&draft, self.timeout.unwrap_or(context.timeout)).await;
            let token =
                authorization.iter().find_map(|value| value.split_once(' ')).map_or("", |(_, token)| token);
            for rule in &self.rules {
                rule.judge(context, &reference, token, &sent);
            }
            !matches!(sent.reply, Err(NoAnswer::TimedOut(_)))
        }
        .boxed()
    }

    fn points(&self, case: &str) -> Vec<String> {
        self.rules.iter().filter_map(|rule| rule.point(case)).map(str::to_owned).collect()
    }

    fn describe(&self, spec: &Spec) -> Vec<String> {
        let reference = self.session.example();
        let draft = self.draft(spec.verdict_path(), &reference, self.token.example().as_deref());
        let mut lines: Vec<String> = self.session.describe().into_iter().collect();
        lines.extend(request_lines(&example_address(EXAMPLE_SERVICE), &draft));
        lines.extend(self.rules.iter().filter_map(|rule| rule.describe(spec, &reference)));
        lines
    }
}

impl Session {
    /// Its reference. None: the case cannot be played, and says why.
    async fn reference(&self, context: &mut ServiceCaseContext) -> Option<String> {
        match self {
            Self::Unknown(name) | Self::Unencoded(name) => Some(context.reference(name)),
            Self::Segment(segment) => Some(segment.clone()),
            Self::WithVerdict => context.session().await,
            Self::Added(name, session) => {
                let reference = context.reference(name);
                session.add(context, &reference);
                Some(reference)
            }
        }
    }

    /// A reference in examples.
    fn example(&self) -> String {
        match self {
            Self::Unknown(name) | Self::Unencoded(name) | Self::Added(name, _) => format!("example-{name}"),
            Self::Segment(segment) => segment.clone(),
            Self::WithVerdict => "example".to_owned(),
        }
    }

    fn describe(&self) -> Option<String> {
        match self {
            Self::Unknown(_) | Self::Unencoded(_) | Self::Segment(_) => None,
            Self::WithVerdict => Some("the session has a verdict".to_owned()),
            Self::Added(_, session) => Some(session.describe()),
        }
    }
}

impl AddedSession {
    /// A session of the read token's license.
    pub(super) fn ready(ready: Ready) -> Self {
        Self { ready, other_license: false }
    }

    /// Adds the session to the built-in mock. No effect on another service.
    pub(super) fn add(self, context: &ServiceCaseContext, reference: &str) {
        let Some((mock, credentials)) = context.builtin_mock() else { return };
        context.target.traffic.note_session(reference);
        let session = NewSession::new(reference).ready(self.ready);
        let other = self.other_license.then(|| credentials.other_license_id());
        mock.add_session(match other {
            Some(id) => session.license_id(id),
            None => session,
        });
    }

    fn describe(self) -> String {
        let time = humantime::format_duration;
        match self.ready {
            _ if self.other_license => "the session belongs to another license".to_owned(),
            Ready::Never => "the session has no verdict yet".to_owned(),
            Ready::Since(age) => format!("the session got its verdict {} ago", time(age)),
            Ready::After(delay) => format!("the session gets its verdict after {}", time(delay)),
            Ready::AfterFirstPoll(delay) => {
                format!("the session gets its verdict {} after the first request for it", time(delay))
            }
            Ready::Always => "the session has a verdict".to_owned(),
        }
    }
}
