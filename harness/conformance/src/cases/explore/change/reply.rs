use std::time::Duration;

use edgeproof_fixtures::spec::{Change, ReplyPieces};
use edgeproof_mock::{Action, AnswerFraming, AnswerPackets, ShapedAnswer};
use serde_json::{Value, json};

use super::json;
use crate::cases::Conversation;

/// Changes the service's reply, and with it the expected answer. Other changes have no effect, and neither do changes of
/// a reply that is no answer.
pub(super) fn apply(change: &Change, conversation: &mut Conversation) {
    let Some(reply) = conversation.script.as_mut().and_then(|script| script.replies.first_mut()) else {
        return;
    };
    if let Change::DelayMs(delay) = change {
        reply.delay = Duration::from_millis(*delay);
    }
    let Some(mut shaped) = shaped(&reply.action) else { return };
    match change {
        Change::Status(status) => {
            shaped.status = *status;
            if let Some(answer) = &mut conversation.answer {
                answer.status = *status;
                set_member(&mut answer.body, "status", json!(status));
            }
        }
        Change::Reason(reason) => {
            if let Some(answer) = &mut conversation.answer {
                let old = answer.body.as_ref().and_then(|body| body.get("reason")).cloned();
                shaped.body = json::replace_text(&shaped.body, old.as_ref(), reason);
                set_member(&mut answer.body, "reason", json!(reason));
            }
        }
        Change::Json(form) => shaped.body = json::in_form(&shaped.body, *form),
        Change::ReplyHeaders(fields) => {
            shaped.headers.extend(fields.iter().cloned());
            // An edge may have its own `Connection` with the same value.
            let hidden = fields.iter().filter(|(name, value)| name != "connection" && !value.is_empty());
            conversation.hidden = hidden.cloned().collect();
        }
        Change::ReplyType(kind) => {
            shaped.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            if !kind.is_empty() {
                shaped.headers.push(("content-type".into(), kind.clone()));
            }
        }
        Change::ReplyChunks(size) => shaped.framing = AnswerFraming::Chunks(*size),
        Change::ReplyUntilClose => shaped.framing = AnswerFraming::UntilClose,
        Change::ReplyHttp10 => shaped.http10 = true,
        Change::ReplyGzip => shaped.gzip = true,
        Change::ReplyClose => shaped.close = true,
        Change::Packets(pieces) => {
            shaped.packets = match pieces {
                ReplyPieces::HeadApart => AnswerPackets::HeadApart,
                ReplyPieces::InHead => AnswerPackets::InHead,
                ReplyPieces::InBody => AnswerPackets::InBody,
                ReplyPieces::Bytes => AnswerPackets::Bytes,
            };
        }
        Change::Interim(answers) => {
            shaped.interim = answers.iter().map(|answer| (answer.status, answer.headers.clone())).collect();
        }
        _ => return,
    }
    reply.action = Action::Shaped(Box::new(shaped));
}

/// The answer of an action in a form that can be changed.
fn shaped(action: &Action) -> Option<ShapedAnswer> {
    match action {
        Action::Answer { status, headers, body } => {
            Some(ShapedAnswer::new(*status, headers.clone(), body.clone()))
        }
        Action::Shaped(shaped) => Some((**shaped).clone()),
        _ => None,
    }
}

fn set_member(body: &mut Option<Value>, name: &str, value: Value) {
    if let Some(member) = body.as_mut().and_then(|body| body.get_mut(name)) {
        *member = value;
    }
}
