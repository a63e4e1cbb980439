use bytes::Bytes;

use crate::decision::{EdgeAnswer, EdgeDecision, EdgeRules, RelayResult, conclude, decide};
use crate::fault_hooks::{EdgeAction, EdgeFaultHooks, EdgeRequest};

/// I/O that [`handle_request`] needs: sockets in the server, a script in mutation runs without sockets.
pub trait EdgeIo {
    /// Reads the request body.
    fn read(&mut self) -> impl Future<Output = RequestBody> + Send;

    /// Relays a body to the service once.
    fn relay(&mut self, body: Bytes) -> impl Future<Output = RelayResult> + Send;

    /// Discards the request body, which the edge does not need.
    fn discard(&mut self) {}
}

/// Request body after it was read.
#[derive(Debug)]
pub enum RequestBody {
    /// Complete body.
    Complete(Bytes),
    /// Received part of a body that broke off.
    Partial(Bytes),
    /// Too long for memory: it was streamed to the service, with this result.
    Streamed(RelayResult),
}

/// Handles one request: decides, relays where the decision says so, and concludes. `None`: the request opens the
/// WebSocket. The server and mutation runs without sockets share this function.
pub async fn handle_request(
    rules: &EdgeRules,
    hooks: &dyn EdgeFaultHooks,
    request: &mut EdgeRequest<'_>,
    io: &mut impl EdgeIo,
) -> Option<EdgeAction> {
    let (result, answer) = match hooks.decide(request, decide(rules, request.facts)) {
        EdgeDecision::Relay => match relay(hooks, request, io).await {
            Ok(result) => {
                let answer = conclude(rules, request.facts, &result);
                (Some(result), answer)
            }
            Err(answer) => (None, *answer),
        },
        EdgeDecision::Measure => return None,
        EdgeDecision::Answer(answer) => {
            io.discard();
            (None, answer)
        }
    };
    Some(hooks.conclude(request, result.as_ref(), answer))
}

/// Reads the body and relays it. The error is an answer that a fault hook sends instead of relaying.
async fn relay(
    hooks: &dyn EdgeFaultHooks,
    request: &mut EdgeRequest<'_>,
    io: &mut impl EdgeIo,
) -> Result<RelayResult, Box<EdgeAnswer>> {
    let body = match io.read().await {
        RequestBody::Complete(body) => body,
        RequestBody::Partial(part) => match hooks.partial_body(request, part) {
            Some(part) => part,
            None => return Ok(RelayResult::BodyBroken),
        },
        RequestBody::Streamed(result) => return Ok(hooks.result(result)),
    };
    request.body = Some(body.clone());
    let body = hooks.body(request, body)?;
    if let Some(before) = hooks.before(request, &body) {
        io.relay(before).await;
    }
    loop {
        let result = hooks.result(io.relay(body.clone()).await);
        request.relays += 1;
        if !hooks.again(request, &result) {
            return Ok(result);
        }
    }
}
