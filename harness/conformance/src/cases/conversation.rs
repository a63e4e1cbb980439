use edgeproof_reports::Level;

use super::collection;
use crate::judge::{self, Check, ExpectedAnswer};
use edgeproof_http::{Answer, Body, Draft, NoAnswer};
use edgeproof_mock::{Arrival, Script};

/// One request, what the service does with it, and what is expected: all of it data.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// What is sent; [`MARKER`] and [`ORIGIN`] are filled in.
    pub draft: Draft,
    /// What the service does. None: it decides by itself.
    pub script: Option<Script>,
    /// The answer. None: any.
    pub answer: Option<ExpectedAnswer>,
    /// What the service gets.
    pub relay: ExpectedRelay,
    /// A page of the allowed origin has to be able to read the answer.
    pub readable: Option<Level>,
    /// The answer has to say that it is JSON.
    pub content_type: Option<Level>,
}

/// What the service gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedRelay {
    /// The request, once, its body unchanged.
    Once,
    /// Nothing.
    Nothing,
    /// Is not looked at.
    Any,
}

impl Conversation {
    /// A collection as a page posts it, relayed once and answered as the service says.
    pub fn post(script: Script, answer: ExpectedAnswer) -> Self {
        Self {
            draft: collection(),
            script: Some(script),
            answer: Some(answer),
            relay: ExpectedRelay::Once,
            readable: None,
            content_type: None,
        }
    }

    /// The same with another body.
    #[must_use]
    pub fn body(mut self, body: Body) -> Self {
        self.draft.body = body;
        self
    }

    /// The same with another draft.
    #[must_use]
    pub fn draft(mut self, draft: Draft) -> Self {
        self.draft = draft;
        self
    }

    /// Also readable by a page, at this level.
    #[must_use]
    pub fn readable(mut self, level: Level) -> Self {
        self.readable = Some(level);
        self
    }

    /// Of which only this is looked at: whether the answer says that it is JSON.
    #[must_use]
    pub fn only_content_type(self, level: Level) -> Self {
        Self { answer: None, relay: ExpectedRelay::Any, content_type: Some(level), ..self }
    }

    /// Of which only this is looked at: whether a page can read the answer.
    #[must_use]
    pub fn only_readable(self, level: Level) -> Self {
        Self { answer: None, relay: ExpectedRelay::Any, readable: Some(level), ..self }
    }

    /// With another expectation of what the service gets.
    #[must_use]
    pub fn relay(mut self, relay: ExpectedRelay) -> Self {
        self.relay = relay;
        self
    }
}

/// Judges a conversation by what came of it. `draft`: as it was sent; `origin`: what the edge allows.
pub fn judge(
    conversation: &Conversation,
    draft: &Draft,
    origin: &str,
    reply: &Result<Answer, NoAnswer>,
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
    if let Some(level) = conversation.content_type {
        checks.push(judge::json_content_type(reply).at(level));
    }
    checks
}
