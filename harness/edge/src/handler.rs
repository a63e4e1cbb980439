use bytes::Bytes;

use super::decide::{EdgeAnswer, EdgeDecision, Relayed, conclude, decide};
use super::fault_hooks::{EdgeAction, EdgeFaultHooks, EdgeRequest};
use super::rules::Rules;

/// I/O that [`handle_request`] needs: sockets in the server, a script in mutation runs without sockets.
pub trait EdgeIo {
    /// Reads the request body.
    fn read(&mut self) -> impl Future<Output = RequestBody> + Send;

    /// Relays a body to the service once.
    fn relay(&mut self, body: Bytes) -> impl Future<Output = Relayed> + Send;

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
    Streamed(Relayed),
}

/// Handles one request: decides, relays where the decision says so, and concludes. `None`: the request opens the
/// WebSocket. The server and mutation runs without sockets share this function.
pub async fn handle_request(
    rules: &Rules,
    hooks: &dyn EdgeFaultHooks,
    request: &mut EdgeRequest<'_>,
    io: &mut impl EdgeIo,
) -> Option<EdgeAction> {
    let (relayed, answer) = match hooks.decide(request, decide(rules, request.facts)) {
        EdgeDecision::Relay => match relay(hooks, request, io).await {
            Ok(relayed) => {
                let answer = conclude(rules, request.facts, &relayed);
                (Some(relayed), answer)
            }
            Err(answer) => (None, *answer),
        },
        EdgeDecision::Measure => return None,
        EdgeDecision::Answer(answer) => {
            io.discard();
            (None, answer)
        }
    };
    Some(hooks.conclude(request, relayed.as_ref(), answer))
}

/// Reads the body and relays it. The error is an answer that a fault hook sends instead of relaying.
async fn relay(
    hooks: &dyn EdgeFaultHooks,
    request: &mut EdgeRequest<'_>,
    io: &mut impl EdgeIo,
) -> Result<Relayed, Box<EdgeAnswer>> {
    let body = match io.read().await {
        RequestBody::Complete(body) => body,
        RequestBody::Partial(part) if hooks.habits().relays_partial => part,
        RequestBody::Partial(_) => return Ok(Relayed::BodyBroken),
        RequestBody::Streamed(relayed) => return Ok(relayed),
    };
    request.body = Some(body.clone());
    let body = hooks.body(request, body)?;
    if let Some(before) = hooks.before(&body) {
        io.relay(before).await;
    }
    let mut times = 0;
    loop {
        let relayed = io.relay(body.clone()).await;
        times += 1;
        if !hooks.again(times, &relayed) {
            return Ok(relayed);
        }
    }
}
