use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_http::{Limits, ListenerProtocol, Server};
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use serde_json::Value;
use tokio::net::TcpListener;

use super::command::Command;
use super::state::AdminState;
use super::{AdminError, Guard, TokenRedactor};
use crate::service::MockService;

/// The admin port of a mock service, listening. Dropping it ends its scripts, and everything else at once.
pub struct Admin {
    server: Server,
}

/// How an admin port is set up.
#[derive(Debug)]
pub struct AdminOptions {
    /// Where it listens. Whoever can reach it commands the mock service.
    pub listener: TcpListener,
    /// Names that it may be called by, beside addresses and `localhost`.
    pub names: Vec<String>,
    /// What random faults come from that name no seed of their own.
    pub seed: u64,
    /// What is not shown of requests.
    pub redactor: Arc<TokenRedactor>,
}

/// Bytes of a body.
const MAX_BODY: usize = 1024 * 1024;
/// Time for a body.
const BODY_TIME: Duration = Duration::from_secs(10);
/// Time for requests in flight when it stops.
const GRACE: Duration = Duration::from_secs(1);

impl Admin {
    /// Starts it. It answers when this returns.
    pub fn start(service: Arc<MockService>, options: AdminOptions) -> io::Result<Self> {
        let AdminOptions { listener, names, seed, redactor } = options;
        let guard = Guard::new(listener.local_addr()?, &names);
        let state = Arc::new(AdminState::new(service, guard, redactor, seed));
        let limits = Limits { connections: 128, ..Limits::default() };
        let server = Server::start(listener, ListenerProtocol::Plain, limits, move |request, _| {
            let state = Arc::clone(&state);
            async move { Ok::<_, Infallible>(handle(&state, request).await) }
        })?;
        Ok(Self { server })
    }

    /// The address it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// Its address, as a client uses it.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr())
    }

    /// Stops listening, finishes requests in flight, and ends its scripts.
    pub async fn stop(self) {
        self.server.stop(GRACE).await;
    }
}

impl fmt::Debug for Admin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Admin({})", self.url())
    }
}

async fn handle(state: &AdminState, request: Request<Incoming>) -> Response<Full<Bytes>> {
    match answer(state, request).await {
        Ok((status, body)) => respond(status, &body),
        Err(refusal) => {
            let mut response = respond(refusal.status().0.as_u16(), &refusal.body());
            if let AdminError::MethodNotAllowed { allowed } = &refusal {
                let allowed = HeaderValue::from_str(allowed).expect("names of methods");
                response.headers_mut().insert(ALLOW, allowed);
            }
            response
        }
    }
}

async fn answer(state: &AdminState, request: Request<Incoming>) -> Result<(u16, Value), AdminError> {
    let (head, body) = request.into_parts();
    state.guard.check(head.uri.authority().map(http::uri::Authority::as_str), &head.headers)?;
    let command = Command::of(&head.method, head.uri.path())?;
    let reading = tokio::time::timeout(BODY_TIME, Limited::new(body, MAX_BODY).collect());
    let body = match reading.await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(why)) if why.is::<http_body_util::LengthLimitError>() => {
            return Err(AdminError::TooLarge { limit: MAX_BODY });
        }
        Ok(Err(_)) | Err(_) => return Err(AdminError::Incomplete),
    };
    state.act(command, head.uri.query(), &body)
}

/// One line of JSON, with its end, for terminals.
fn respond(status: u16, body: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(format!("{body}\n"))));
    *response.status_mut() = StatusCode::from_u16(status).expect("a status of ours");
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
