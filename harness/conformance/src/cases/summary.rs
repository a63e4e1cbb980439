//! How cases put what they saw, always the same for the same behaviour.

use crate::judge;
use edgeproof_http::{Answer, NoAnswer};

/// An answer in a few words, without what differs from run to run.
pub(super) fn answer(marker: &str, reply: &Result<Answer, NoAnswer>) -> String {
    let answer = match reply {
        Ok(answer) => answer,
        Err(NoAnswer::TimedOut(_)) => return "no answer, the connection stays open".into(),
        Err(why) => return why.to_string(),
    };
    let body = judge::excerpt(&answer.body).replace(marker, "…");
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
