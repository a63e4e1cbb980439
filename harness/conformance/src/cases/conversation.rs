use super::{EdgeObservation, EdgeRule, collection};
use crate::judge::{self, AnswerResult, Check, ExpectedAnswer, RelayedRequests};
use edgeproof_fixtures::spec::Advice;
use edgeproof_http::{Body, Draft};
use edgeproof_mock::Script;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::AnswerSubject;

/// One request to the edge, the service's reply and the expected result. Pure data: `EdgeCaseContext::converse` plays it, and
/// [`judge::exact`] (`judge/answer.rs`) compares its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// The request, with the placeholders [`MARKER`](super::MARKER) and [`ORIGIN`](super::ORIGIN).
    pub draft: Draft,
    /// How the mock service replies. None: by its own checks.
    pub script: Option<Script>,
    /// The expected answer. None: any.
    pub answer: Option<ExpectedAnswer>,
    /// Level of the answer's exact wording. Below `must`, an acceptance still breaks a `must`.
    pub wording: CaseLevel,
    /// What reaches the service.
    pub relay: ExpectedRelay,
    /// Accepted answers if the edge sent the collection again; the copy then breaks a `should`. Empty: it breaks a `must`.
    pub after_retry: Vec<ExpectedAnswer>,
    /// Level of the check that a page of the allowed origin can read the answer. None: no check.
    pub readable: Option<CaseLevel>,
    /// The answer grants nothing to the request's origin.
    pub denied: bool,
    /// Header fields of the service's reply that the answer does not contain.
    pub hidden: Vec<(String, String)>,
    /// Level of the check that the answer's content type is JSON. None: no check.
    pub content_type: Option<CaseLevel>,
    /// What else the answer has to be, and what is observed of it. Only a real edge shows it.
    pub rules: Vec<EdgeRule>,
}

/// What reaches the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedRelay {
    /// The request, once, with its body unchanged.
    Once,
    /// Nothing.
    Nothing,
    /// Anything: no check.
    Any,
}

impl Conversation {
    /// Any request, of which nothing is expected yet.
    pub fn request(draft: Draft) -> Self {
        Self {
            draft,
            script: None,
            answer: None,
            wording: CaseLevel::Must,
            relay: ExpectedRelay::Any,
            after_retry: Vec::new(),
            readable: None,
            denied: false,
            hidden: Vec::new(),
            content_type: None,
            rules: Vec::new(),
        }
    }

    /// A page posts a collection; the edge relays it once and gives this answer.
    pub fn post(script: Script, answer: ExpectedAnswer) -> Self {
        let relay = ExpectedRelay::Once;
        Self { answer: Some(answer), relay, ..Self::request(collection()).script(script) }
    }

    /// Sets how the mock service replies.
    #[must_use]
    pub fn script(self, script: Script) -> Self {
        Self { script: Some(script), ..self }
    }

    /// Adds what the answer has to be.
    #[must_use]
    pub fn expect(mut self, rule: EdgeRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Observes this of the answer, at the open point that has the case's id.
    #[must_use]
    pub fn observe(self, seen: EdgeObservation) -> Self {
        self.expect(EdgeRule::Observe(seen, None))
    }

    /// Observes this of the answer, at an open point of its own.
    #[must_use]
    pub fn observe_at(self, point: &'static str, seen: EdgeObservation) -> Self {
        self.expect(EdgeRule::Observe(seen, Some(point)))
    }

    /// Checks that the answer grants nothing to the origin of the request.
    #[must_use]
    pub fn denied(self) -> Self {
        Self { denied: true, ..self }
    }

    /// Replaces the body.
    #[must_use]
    pub fn body(mut self, body: Body) -> Self {
        self.draft.body = body;
        self
    }

    /// Replaces the request.
    #[must_use]
    pub fn draft(mut self, draft: Draft) -> Self {
        self.draft = draft;
        self
    }

    /// Also checks, at this level, that a page can read the answer.
    #[must_use]
    pub fn readable(mut self, level: CaseLevel) -> Self {
        self.readable = Some(level);
        self
    }

    /// Checks nothing of the answer so far, and nothing at the service.
    #[must_use]
    pub fn only(self) -> Self {
        Self { answer: None, relay: ExpectedRelay::Any, ..self }
    }

    /// Also checks, at this level, the answer's content type.
    #[must_use]
    pub fn content_type(self, level: CaseLevel) -> Self {
        Self { content_type: Some(level), ..self }
    }

    /// Lowers the level of the answer's exact wording.
    #[must_use]
    pub fn wording(mut self, level: CaseLevel) -> Self {
        self.wording = level;
        self
    }

    /// Permits a retry, after which these answers are true.
    #[must_use]
    pub fn after_retry(mut self, answers: Vec<ExpectedAnswer>) -> Self {
        self.after_retry = answers;
        self
    }

    /// Replaces the expectation of what reaches the service.
    #[must_use]
    pub fn relay(mut self, relay: ExpectedRelay) -> Self {
        self.relay = relay;
        self
    }
}

impl Conversation {
    /// Whether an answer is the expected one, and readable if a page must be able to read it.
    pub fn is_answered(&self, origin: &str, reply: &AnswerResult) -> bool {
        let exact = self.answer.iter().flat_map(|expected| judge::exact(expected, reply));
        let readable = self.readable.map(|level| judge::readable(origin, reply).at(level));
        reply.is_ok() && exact.chain(readable).all(|check| check.ok)
    }
}

/// Compares a conversation's result with its expectations, by `exact` in `judge/answer.rs`. `draft`: the request as sent; `origin`: the allowed origin.
pub fn judge(
    conversation: &Conversation,
    draft: &Draft,
    origin: &str,
    reply: &AnswerResult,
    relayed: &RelayedRequests,
) -> Vec<Check> {
    let mut checks = Vec::new();
    let retries = !conversation.after_retry.is_empty();
    if retries && relayed.complete.len() > 1 {
        let check = judge::one_of(AnswerSubject::AfterRetry, &conversation.after_retry, reply);
        checks.push(check.advise(Advice::RetryUntold));
    } else if let Some(expected) = &conversation.answer {
        let exact = judge::exact(expected, reply).into_iter();
        checks.extend(exact.map(|check| check.at(conversation.wording)));
        if conversation.wording != CaseLevel::Must {
            checks.push(judge::not_accepted(reply));
        }
    }
    // A license that is not one changes the service's refusal.
    if let Some(advice) =
        relayed.complete.first().and_then(|arrival| judge::unset_license(&arrival.request.headers))
    {
        for check in checks.iter_mut().filter(|check| !check.ok) {
            check.advice = vec![advice.clone()];
        }
    }
    let copy = if retries { CaseLevel::Should } else { CaseLevel::Must };
    match conversation.relay {
        ExpectedRelay::Once => {
            checks.extend(judge::relayed_once(draft.body.bytes(), relayed, reply, copy));
        }
        ExpectedRelay::Nothing => checks.push(judge::not_relayed(relayed)),
        ExpectedRelay::Any => {}
    }
    if let Some(level) = conversation.readable {
        checks.push(judge::readable(origin, reply).at(level));
    }
    if let Some(origin) = draft.header_value("origin").filter(|_| conversation.denied) {
        checks.push(judge::no_grant(origin, reply));
    }
    if !conversation.hidden.is_empty() {
        checks.push(judge::without_fields(&conversation.hidden, reply).at(CaseLevel::Should));
    }
    if let Some(level) = conversation.content_type {
        checks.push(judge::json_content_type(reply).at(level));
    }
    checks
}
