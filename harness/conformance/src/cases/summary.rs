//! Short texts for observations: the same behaviour always gives the same text, because users pin it.

use crate::judge::{self, AnswerResult};
use edgeproof_http::NoAnswer;

/// Status and body of an answer, without what differs between runs.
pub(crate) fn answer(marker: &str, reply: &AnswerResult) -> String {
    let answer = match reply {
        Ok(answer) if !answer.body.is_empty() => answer,
        Ok(answer) => return format!("{} without a body", answer.status),
        Err(_) => return status(reply),
    };
    let body = judge::excerpt(&answer.body).replace(marker, "…");
    let cut = if answer.complete { "" } else { ", cut off" };
    format!("{} {body}{cut}", answer.status)
}

/// Status of an answer.
pub(crate) fn status(reply: &AnswerResult) -> String {
    match reply {
        Ok(answer) => answer.status.to_string(),
        Err(NoAnswer::TimedOut(_)) => "no answer, the connection stays open".into(),
        Err(why) => why.to_string(),
    }
}
