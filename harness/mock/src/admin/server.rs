use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_http::{Limits, ListenerProtocol, Server, ServerAddress};
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

/// A running admin port of a mock service. Dropping it deletes its scripts and closes all connections.
pub struct Admin {
    server: Server,
}

/// Settings of an admin port.
#[derive(Debug)]
pub struct AdminOptions {
    /// Where it listens. The port has no authentication.
    pub listener: TcpListener,
    /// An edge that relays to the service, for the states of posted collections (default: none).
    pub edge: Option<ServerAddress>,
    /// Accepted host names besides IP addresses and `localhost`.
    pub names: Vec<String>,
    /// Seed of random faults that name no seed.
    pub seed: u64,
    /// Removes secrets from the journal.
    pub redactor: Arc<TokenRedactor>,
}

/// Limit of a body, in bytes.
const MAX_BODY: usize = 1024 * 1024;
/// Timeout of a body.
const BODY_TIME: Duration = Duration::from_secs(10);
/// Time for requests in flight when the port stops.
const GRACE: Duration = Duration::from_secs(1);

impl Admin {
    /// Starts an admin port. It accepts connections when this returns.
    pub fn start(service: Arc<MockService>, options: AdminOptions) -> io::Result<Self> {
        let AdminOptions { listener, edge, names, seed, redactor } = options;
        let guard = Guard::new(listener.local_addr()?, &names);
        let state = Arc::new(AdminState::new(service, edge, guard, redactor, seed));
        let limits = Limits { connections: 128, ..Limits::default() };
        let server = Server::start(listener, ListenerProtocol::Plain, limits, move |request, _| {
            let state = Arc::clone(&state);
            async move { Ok::<_, Infallible>(handle(&state, request).await) }
        })?;
        Ok(Self { server })
    }

    /// Address of the listener.
    pub fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// Base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr())
    }

    /// Stops listening, waits up to one second for requests in flight, and deletes its scripts.
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
                let allowed = HeaderValue::from_str(allowed).expect("method names are valid header values");
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
    state.act(&command, head.uri.query(), &body).await
}

/// An answer of one line of JSON. The newline is for terminals.
fn respond(status: u16, body: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(format!("{body}\n"))));
    *response.status_mut() = StatusCode::from_u16(status).expect("commands answer with valid status codes");
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
