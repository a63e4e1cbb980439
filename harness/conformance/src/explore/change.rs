//! Changes to a plain exchange: exhaustive over the model of variation, pure.

use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::spec::Change;
use edgeproof_http::Body;

use super::exchange::Exchange;

/// Makes a change.
pub(super) fn apply(change: &Change, exchange: &mut Exchange) {
    let draft = &mut exchange.conversation.draft;
    let body = Bytes::copy_from_slice(draft.body.bytes());
    match change {
        Change::Chunks { size, .. } => draft.body = Body::Chunked(body, *size),
        Change::Parts { count, pause_ms } => {
            draft.body = Body::Slow(body, *count, Duration::from_millis(*pause_ms));
        }
        Change::Expect => draft.body = Body::Expect(body),
    }
}

/// Whether two changes of different dimensions can be made to one exchange.
pub(super) fn combine(_one: &Change, _other: &Change) -> bool {
    true
}
