use super::collection;
use crate::judge::{self, AnswerResult, Check, ExpectedAnswer};
use edgeproof_http::{Body, Draft};
use edgeproof_mock::{Arrival, Script};
use edgeproof_reports::CaseLevel;

/// One request to the edge, the service's reply and the expected result. Pure data.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// The request, with the placeholders [`MARKER`](super::MARKER) and [`ORIGIN`](super::ORIGIN).
    pub draft: Draft,
    /// How the mock service replies. None: by its own checks.
    pub script: Option<Script>,
    /// The expected answer. None: any.
    pub answer: Option<ExpectedAnswer>,
    /// What reaches the service.
    pub relay: ExpectedRelay,
    /// Level of the check that a page of the allowed origin can read the answer. None: no check.
    pub readable: Option<CaseLevel>,
    /// The answer grants nothing to the request's origin.
    pub denied: bool,
    /// Header fields of the service's reply that the answer does not contain.
    pub hidden: Vec<(String, String)>,
    /// Level of the check that the answer's content type is JSON. None: no check.
    pub content_type: Option<CaseLevel>,
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
    /// A page posts a collection; the edge relays it once and gives this answer.
    pub fn post(script: Script, answer: ExpectedAnswer) -> Self {
        Self {
            draft: collection(),
            script: Some(script),
            answer: Some(answer),
            relay: ExpectedRelay::Once,
            readable: None,
            denied: false,
            hidden: Vec::new(),
            content_type: None,
        }
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

    /// Checks the answer's content type and nothing else.
    #[must_use]
    pub fn only_content_type(self, level: CaseLevel) -> Self {
        Self { answer: None, relay: ExpectedRelay::Any, content_type: Some(level), ..self }
    }

    /// Checks that a page can read the answer and nothing else.
    #[must_use]
    pub fn only_readable(self, level: CaseLevel) -> Self {
        Self { answer: None, relay: ExpectedRelay::Any, readable: Some(level), ..self }
    }

    /// Replaces the expectation of what reaches the service.
    #[must_use]
    pub fn relay(mut self, relay: ExpectedRelay) -> Self {
        self.relay = relay;
        self
    }
}

/// Compares a conversation's result with its expectations. `draft`: the request as sent; `origin`: the allowed origin.
pub fn judge(
    conversation: &Conversation,
    draft: &Draft,
    origin: &str,
    reply: &AnswerResult,
    arrivals: &[Arrival],
) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(expected) = &conversation.answer {
        checks.extend(judge::exact(expected, reply));
    }
    match conversation.relay {
        ExpectedRelay::Once => checks.extend(judge::relayed_once(draft.body.bytes(), arrivals)),
        ExpectedRelay::Nothing => checks.push(judge::not_relayed(arrivals)),
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
