use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::spec::Profile;

use crate::decision::ReplyShape;

/// Which requests a script is for. Of several scripts for a request, one for a marker or a reference goes before one for
/// all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// Relayed collections whose body holds these bytes anywhere.
    Marker(Bytes),
    /// All relayed collections, and what asks for nothing that the service has: for a case that has an edge to itself.
    Everything,
    /// Requests for the verdict of this session reference.
    VerdictOf(String),
    /// All requests for verdicts.
    Verdicts,
    /// Requests for the key set.
    KeySet,
}

/// What the mock service does with the requests that a script is for: one reply after the other, the last one
/// for all that follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// At least one.
    pub replies: Vec<Reply>,
}

/// One reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// How long to wait before it.
    pub delay: Duration,
    /// Whether the body is read first.
    pub when: When,
    /// What is done.
    pub action: Action,
}

/// When a reply is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// After the request was read to its end.
    AfterBody,
    /// After the head and the first bytes that hold the marker; the rest is read (and recorded) afterwards.
    BeforeBodyEnds,
}

/// What is done with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// The mock service decides as it does without a script.
    Decide,
    /// The script is over, whatever follows: another one is for the request, or none.
    Pass,
    /// The script begins anew with its first reply: what goes before it is given in turns, without end. Its last reply.
    Again,
    /// As [`Action::Decide`]; but the connection ends after this many bytes of the answer, its head included. On HTTP/2 they are
    /// counted from all that the connection sends.
    CutDecision {
        /// Bytes that are sent.
        after: usize,
    },
    /// This answer.
    Answer {
        /// Status code, 200 to 999.
        status: u16,
        /// Header fields besides `Content-Length` and `Date`.
        headers: Vec<(String, String)>,
        /// Body.
        body: Bytes,
    },
    /// These bytes in place of an answer, then the end of the stream.
    Raw(Bytes),
    /// The answer, cut off after this many bytes of its body, then the end of the stream.
    CutBody {
        /// Status code.
        status: u16,
        /// Whole body; `Content-Length` promises all of it.
        body: Bytes,
        /// Bytes of it that are sent.
        after: usize,
    },
    /// The head of an answer, cut off in its middle, then the end of the stream.
    CutHead,
    /// The stream ends without an answer.
    Close,
    /// The connection is reset.
    Reset,
    /// No answer; the connection stays open until the peer closes it.
    Silence,
}

impl Script {
    /// Which of so many replies, of which `last` is the last, the request of this number gets; counted from 0.
    pub fn place(replies: usize, last: &Action, number: usize) -> usize {
        let end = replies.saturating_sub(1);
        match last {
            Action::Again if end > 0 => number % end,
            _ => number.min(end),
        }
    }

    /// The same for every request.
    pub fn one(action: Action) -> Self {
        Self { replies: vec![Reply::now(action)] }
    }

    /// As without a script; but what arrives is this script's.
    pub fn decide() -> Self {
        Self::one(Action::Decide)
    }

    /// The service accepts, as it usually does.
    pub fn accept(profile: &Profile) -> Self {
        Self::one(json(200, &profile.relay_accepted))
    }

    /// The service refuses with a status and a reason, worded as `shape` says.
    pub fn refuse(shape: &ReplyShape, status: u16, reason: &str) -> Self {
        Self::one(json(status, &shape.render(status, reason)))
    }
}

impl Reply {
    /// At once, after the request was read.
    pub fn now(action: Action) -> Self {
        Self { delay: Duration::ZERO, when: When::AfterBody, action }
    }
}

fn json(status: u16, body: &serde_json::Value) -> Action {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Action::Answer { status, headers, body: Bytes::from(body.to_string()) }
}
