use bytes::Bytes;
use edgeproof_reports::CaseLevel as Level;

use super::summary;
use crate::judge::{self, Check, Expected};
use edgeproof_http::{Answer, Body, Draft, NoAnswer};
use edgeproof_mock::{Arrival, Script};

/// Stands in a draft for a text that no other case sends.
pub const MARKER: &str = "{marker}";
/// Stands in a draft for the origin that the edge allows.
pub const ORIGIN: &str = "{origin}";

/// One request, what the service does with it, and what is expected: all of it data.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// What is sent; [`MARKER`] and [`ORIGIN`] are filled in.
    pub draft: Draft,
    /// What the service does. None: it decides by itself.
    pub script: Option<Script>,
    /// The answer. None: any.
    pub answer: Option<Expected>,
    /// What the service gets.
    pub relayed: Relayed,
    /// A page of the allowed origin has to be able to read the answer.
    pub readable: Option<Level>,
    /// The answer has to say that it is JSON.
    pub typed: Option<Level>,
}

/// What the service gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relayed {
    /// The request, once, its body unchanged.
    Once,
    /// Nothing.
    Nothing,
    /// Is not looked at.
    Unjudged,
}

impl Conversation {
    /// A collection as a page posts it, relayed once and answered as the service says.
    pub fn post(script: Script, answer: Expected) -> Self {
        Self {
            draft: collection(),
            script: Some(script),
            answer: Some(answer),
            relayed: Relayed::Once,
            readable: None,
            typed: None,
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
    pub fn only_typed(self, level: Level) -> Self {
        Self { answer: None, relayed: Relayed::Unjudged, typed: Some(level), ..self }
    }

    /// Of which only this is looked at: whether a page can read the answer.
    #[must_use]
    pub fn only_readable(self, level: Level) -> Self {
        Self { answer: None, relayed: Relayed::Unjudged, readable: Some(level), ..self }
    }

    /// With another expectation of what the service gets.
    #[must_use]
    pub fn relayed(mut self, relayed: Relayed) -> Self {
        self.relayed = relayed;
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
    match conversation.relayed {
        Relayed::Once => checks.extend(judge::relayed_once(draft.body.bytes(), arrivals)),
        Relayed::Nothing => checks.push(judge::relayed_nothing(arrivals)),
        Relayed::Unjudged => {}
    }
    if let Some(level) = conversation.readable {
        checks.push(judge::readable(origin, reply).at(level));
    }
    if let Some(level) = conversation.typed {
        checks.push(summary::json_content_type(reply).at(level));
    }
    checks
}

/// A draft with its placeholders filled in.
pub fn fill(draft: &Draft, marker: &str, origin: &str) -> Draft {
    let text = |text: &String| text.replace(MARKER, marker).replace(ORIGIN, origin);
    let body = replace(draft.body.bytes(), MARKER.as_bytes(), marker.as_bytes());
    Draft {
        method: draft.method.clone(),
        path: text(&draft.path),
        headers: draft.headers.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
        body: draft.body.with_bytes(body),
        from: draft.from,
    }
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Bytes {
    let Some(at) = bytes.windows(from.len()).position(|window| window == from) else {
        return Bytes::copy_from_slice(bytes);
    };
    let rest = replace(&bytes[at + from.len()..], from, to);
    [&bytes[..at], to, &rest].concat().into()
}

/// The path of the interface that collections are posted to.
pub const SIGNALS: &str = "/v1/signals";
/// The path of the interface that tells whether an edge is up.
pub const HEALTH: &str = "/health";

/// A collection as a page posts it.
pub fn collection() -> Draft {
    posted(Body::Sized(Bytes::from(format!(r#"{{"v":1,"sealed":"{MARKER}"}}"#))), Some("application/json"))
}

/// Any body as a page posts it.
pub(super) fn posted(body: Body, content_type: Option<&str>) -> Draft {
    let draft = Draft::new("POST", SIGNALS).header("Origin", ORIGIN).body(body);
    match content_type {
        Some(kind) => draft.header("Content-Type", kind),
        None => draft,
    }
}

/// A preflight from `origin` for the collector's POST.
pub(super) fn preflight(origin: &str) -> Draft {
    Draft::new("OPTIONS", SIGNALS)
        .header("Origin", origin)
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", "content-type")
}
