use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::spec::Profile;

use super::ShapedAnswer;
use crate::decision::ReplyShape;

/// Requests that a script matches. A script for a marker or a reference precedes a script for all requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// Relayed collections whose body contains these bytes.
    Marker(Bytes),
    /// All relayed collections, and requests to unknown paths.
    Everything,
    /// Requests for the verdict of this session reference.
    VerdictOf(String),
    /// All requests for verdicts.
    Verdicts,
    /// Requests for the key set.
    KeySet,
}

/// Replies to the requests that a script matches, in order. The last reply repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Replies, at least one.
    pub replies: Vec<Reply>,
}

/// Reply to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Delay before the action.
    pub delay: Duration,
    /// Time of the action.
    pub when: When,
    /// Action.
    pub action: Action,
}

/// Time of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// After the end of the request.
    AfterBody,
    /// After the head and the first bytes with the marker. The service reads and records the rest afterwards.
    BeforeBodyEnds,
}

/// Action on a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Answers as without a script.
    Decide,
    /// Ends the script: it no longer matches.
    Pass,
    /// Repeats the replies before it. Valid as the last reply.
    Again,
    /// Answers as without a script, and closes the connection after this many bytes of the answer, head included. On
    /// HTTP/2 all sent bytes of the connection count.
    CutDecision {
        /// Sent bytes.
        after: usize,
    },
    /// Sends this answer.
    Answer {
        /// Status code, 200 to 999.
        status: u16,
        /// Header fields besides `Content-Length` and `Date`.
        headers: Vec<(String, String)>,
        /// Body.
        body: Bytes,
    },
    /// Sends this answer in a chosen form.
    Shaped(Box<ShapedAnswer>),
    /// Sends these bytes in place of an answer, then ends the stream.
    RawBytes(Bytes),
    /// Sends an answer, cut off after this many bytes of its body, then ends the stream.
    CutBody {
        /// Status code.
        status: u16,
        /// Complete body, as `Content-Length` announces.
        body: Bytes,
        /// Sent bytes of the body.
        after: usize,
    },
    /// Sends part of the head of an answer, then ends the stream.
    CutHead,
    /// Ends the stream without an answer.
    Close,
    /// Resets the connection.
    Reset,
    /// Sends nothing, and keeps the connection open until the peer closes it.
    Silence,
}

impl Script {
    /// Index of the reply to the request with this number (from 0), in a script of `replies` replies that ends with
    /// `last`.
    pub fn reply_index(replies: usize, last: &Action, number: usize) -> usize {
        let end = replies.saturating_sub(1);
        match last {
            Action::Again if end > 0 => number % end,
            _ => number.min(end),
        }
    }

    /// A script with the same action for every request.
    pub fn one(action: Action) -> Self {
        Self { replies: vec![Reply::now(action)] }
    }

    /// A script that answers as without a script, and claims the requests.
    pub fn decide() -> Self {
        Self::one(Action::Decide)
    }

    /// A script that accepts every collection.
    pub fn accept(profile: &Profile) -> Self {
        Self::one(json(200, &profile.relay_accepted))
    }

    /// A script that refuses every collection with this status and reason, in this reply shape.
    pub fn refuse(shape: &ReplyShape, status: u16, reason: &str) -> Self {
        Self::one(json(status, &shape.render(status, reason)))
    }
}

impl Reply {
    /// A reply without delay, after the end of the request.
    pub fn now(action: Action) -> Self {
        Self { delay: Duration::ZERO, when: When::AfterBody, action }
    }
}

fn json(status: u16, body: &serde_json::Value) -> Action {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Action::Answer { status, headers, body: Bytes::from(body.to_string()) }
}
