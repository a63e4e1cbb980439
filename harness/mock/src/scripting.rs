//! Scripts as cases word them.

use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::spec::Profile;

use super::{Action, Reply, ReplyShape, Script, When};

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
