//! How cases put what they saw, always the same for the same behaviour.

use super::CaseContext;
use crate::judge::{self, Check};
use edgeproof_http::{Answer, NoAnswer};

/// An answer in a few words, without what differs from run to run.
pub(super) fn answer(context: &CaseContext, reply: &Result<Answer, NoAnswer>) -> String {
    let answer = match reply {
        Ok(answer) => answer,
        Err(NoAnswer::TimedOut(_)) => return "no answer, the connection stays open".into(),
        Err(why) => return why.to_string(),
    };
    let body = judge::shown(&answer.body).replace(&context.marker, "…");
    let cut = if answer.complete { "" } else { ", cut off" };
    if answer.body.is_empty() {
        format!("{} without a body", answer.status)
    } else {
        format!("{} {body}{cut}", answer.status)
    }
}

/// An answer by its status alone.
pub(super) fn status(reply: &Result<Answer, NoAnswer>) -> String {
    match reply {
        Ok(answer) => answer.status.to_string(),
        Err(NoAnswer::TimedOut(_)) => "no answer, the connection stays open".into(),
        Err(why) => why.to_string(),
    }
}

/// The answer says that its body is JSON (RFC 9110 §8.3).
pub(super) fn json_content_type(reply: &Result<Answer, NoAnswer>) -> Check {
    let is_json = |value: &str| {
        let kind = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
    };
    judge::header_has("content-type", "application/json", is_json, reply)
}
