use std::time::Duration;

use edgeproof_fixtures::spec::{Spec, VerdictPath};
use edgeproof_http::{Draft, NoAnswer};
use edgeproof_mock::states::StateRequest;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::rule::{VerdictObservation, VerdictRule};
use super::token_choice::TokenChoice;
use crate::cases::{Exchange, ServiceCaseContext, ServiceNeed, ServiceTarget, VerdictRequest};
use crate::request_text::{EXAMPLE_SERVICE, example_address, request_lines};
use crate::states::StateNeed;

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
    /// In this state, with a reference as of `Unknown`.
    Made(&'static str, SessionState),
}

/// A state of a session that a case asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionState {
    /// It has no verdict yet.
    Pending,
    /// It has a verdict of this age (s).
    Aged(u64),
    /// It has a verdict, and belongs to another license than the read token.
    OtherLicense,
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

    /// A request with the read token for a session that is brought into a state before.
    pub(super) fn made(name: &'static str, session: SessionState) -> Self {
        Self::of(Session::Made(name, session))
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
            Self::Made(name, session) => context.made(session.request(context.reference(name))).await,
        }
    }

    /// A reference in examples.
    fn example(&self) -> String {
        match self {
            Self::Unknown(name) | Self::Unencoded(name) | Self::Made(name, _) => format!("example-{name}"),
            Self::Segment(segment) => segment.clone(),
            Self::WithVerdict => "example".to_owned(),
        }
    }

    fn describe(&self) -> Option<String> {
        match self {
            Self::Unknown(_) | Self::Unencoded(_) | Self::Segment(_) => None,
            Self::WithVerdict => Some("the session has a verdict".to_owned()),
            Self::Made(_, session) => Some(session.describe()),
        }
    }
}

impl SessionState {
    /// The request for a session of this state.
    pub(super) fn request(self, reference: impl Into<String>) -> StateRequest {
        match self {
            Self::Pending => StateRequest::pending(reference),
            Self::Aged(seconds) => StateRequest::aged(reference, seconds),
            Self::OtherLicense => StateRequest::other_license(reference),
        }
    }

    /// What a case of such a session requires.
    pub(super) fn need(self) -> ServiceNeed {
        ServiceNeed::State(match self {
            Self::Pending => StateNeed::Pending,
            Self::Aged(_) => StateNeed::Aged,
            Self::OtherLicense => StateNeed::OtherLicense,
        })
    }

    fn describe(self) -> String {
        match self {
            Self::Pending => "the session has no verdict yet".to_owned(),
            Self::Aged(seconds) => {
                let age = humantime::format_duration(Duration::from_secs(seconds));
                format!("the session got its verdict {age} ago")
            }
            Self::OtherLicense => "the session belongs to another license".to_owned(),
        }
    }
}
