//! Changes to a plain exchange: exhaustive over the model of variation, pure.

mod json;
mod reply;
mod request;

use edgeproof_fixtures::spec::{Change, HeadPieces, JsonForm, ReplyPieces};

use super::exchange::Exchange;

/// How long an exchange waits for the service while other events happen (ms).
const BESIDE_MS: u64 = 200;

/// Makes a change.
pub(super) fn apply(change: &Change, exchange: &mut Exchange) {
    match change {
        Change::Before { exchange: earlier, times } => {
            exchange.before.extend(std::iter::repeat_n(*earlier, *times));
        }
        Change::Pipelined => exchange.pipelined = true,
        Change::After { event, times } => exchange.events.extend(std::iter::repeat_n(*event, *times)),
        Change::Beside { event, times } => {
            exchange.beside.extend(std::iter::repeat_n(*event, *times));
            reply::apply(&Change::DelayMs(BESIDE_MS), &mut exchange.conversation);
        }
        Change::Origin(form) => request::origin(*form, &mut exchange.conversation),
        change => {
            request::apply(change, &mut exchange.conversation.draft);
            reply::apply(change, &mut exchange.conversation);
        }
    }
}

/// Whether two changes of different dimensions can be made to one exchange.
pub(super) fn combine(one: &Change, other: &Change) -> bool {
    !excludes(one, other) && !excludes(other, one)
}

/// Whether one change rules the other out.
fn excludes(one: &Change, other: &Change) -> bool {
    match one {
        // HTTP/1.0 has neither chunks nor interim answers nor persistent connections.
        Change::Http10 => matches!(
            other,
            Change::Chunks { .. } | Change::Expect | Change::Before { .. } | Change::Pipelined
        ),
        Change::ReplyHttp10 => matches!(other, Change::Interim(_) | Change::ReplyChunks(_)),
        // Many small chunks take an edge that streams them long.
        Change::Size(length) => matches!(other, Change::Chunks { size, .. } if *size * 200 < *length),
        Change::Padding { .. } => matches!(other, Change::Head(HeadPieces::Bytes)),
        Change::Json(JsonForm::Long) => {
            matches!(other, Change::Packets(ReplyPieces::Bytes) | Change::ReplyChunks(..100))
        }
        _ => false,
    }
}
