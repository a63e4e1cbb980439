use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::{Profile, Spec};
use edgeproof_http::{ClientAuth, Limits, ListenerProtocol, Peer, Server, server_config};
use http::header::EXPECT;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::decision::{EdgeAnswer, EdgeRules, RelayResult, RequestFacts};
use crate::error::EdgeError;
use crate::fault_hooks::{EdgeAction, EdgeFaultHooks, EdgeRequest, NoEdgeFaults};
use crate::handler::{EdgeIo, RequestBody, handle_request};
use crate::relay::{self, InboundBody, RelayClient, UpstreamOptions};
use crate::websocket;

/// Timeout for the next byte of a request body.
const BODY_IDLE: Duration = Duration::from_secs(30);

/// Bytes beyond the service's maximum body that the edge keeps in memory. Longer bodies are streamed.
const MEMORY_MARGIN: usize = 64 * 1024;

/// Time at shutdown, on top of the service timeout, to send answers to pages.
const GRACE: Duration = Duration::from_secs(2);

/// Options of an edge.
#[derive(Clone)]
pub struct EdgeOptions {
    /// Tables that define the answers.
    pub spec: Arc<Spec>,
    /// Behaviour at open points.
    pub profile: Profile,
    /// Settings; the edge reads their files at start.
    pub settings: EdgeSettings,
    /// Listen address; port 0 for any free port.
    pub listen: SocketAddr,
    /// Certificate and key for HTTPS; unset for HTTP.
    pub tls: Option<EdgeTls>,
    /// Destination of log lines.
    pub log: LogSink,
    /// Timeout of the exchange with the service.
    pub service_timeout: Duration,
    /// Fault hooks; no-op outside mutation runs and tests.
    pub hooks: Arc<dyn EdgeFaultHooks>,
}

/// Certificate and key for HTTPS (HTTP/1.1 and HTTP/2).
#[derive(Debug)]
pub struct EdgeTls {
    /// Certificate chain, the edge's certificate first.
    pub chain: Vec<CertificateDer<'static>>,
    /// Private key.
    pub key: PrivateKeyDer<'static>,
}

/// Destination of log lines (without line ends). Request handlers call it, so it must not block.
#[derive(Clone)]
pub struct LogSink(Arc<dyn Fn(String) + Send + Sync>);

/// Running reference edge. Dropping it closes all connections immediately.
pub struct Edge {
    server: Server,
    https: bool,
    stopping: watch::Sender<bool>,
    grace: Duration,
}

impl EdgeOptions {
    /// HTTP on a free port of 127.0.0.1, with the profile and the service timeout of `spec`.
    pub fn new(spec: Arc<Spec>, settings: EdgeSettings, log: LogSink) -> Self {
        let profile = spec.profile().clone();
        let service_timeout = profile.relay_timeout;
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        Self {
            spec,
            profile,
            settings,
            listen,
            tls: None,
            log,
            service_timeout,
            hooks: Arc::new(NoEdgeFaults),
        }
    }
}

impl Clone for EdgeTls {
    fn clone(&self) -> Self {
        Self { chain: self.chain.clone(), key: self.key.clone_key() }
    }
}

impl LogSink {
    /// Calls `write` for each line.
    pub fn new(write: impl Fn(String) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }

    /// Writes a line.
    pub fn write(&self, line: impl Into<String>) {
        (self.0)(line.into());
    }
}

impl Edge {
    /// Reads the files of the settings and listens. Requires a tokio runtime.
    pub async fn start(options: EdgeOptions) -> Result<Self, EdgeError> {
        let EdgeOptions { spec, profile, settings, listen, tls, log, service_timeout, hooks } = options;
        let rules = EdgeRules::new(&spec, &profile, settings.allowed_origin.as_deref())?;
        let upstream = hooks.upstream(UpstreamOptions::new(&settings, &profile)?);
        let max_in_memory = if upstream.streams { 0 } else { profile.max_body.saturating_add(MEMORY_MARGIN) };
        let relay = RelayClient::new(&settings, upstream, service_timeout)?;
        let https = tls.is_some();
        let protocol = listener_protocol(tls)?;
        if let Some(line) = relay::unpaired_file_warning(&settings) {
            log.write(line);
        }
        let (stopping, stopped) = watch::channel(false);
        let limits = Limits { title_case: hooks.title_case_headers(), ..Limits::default() };
        let state = Arc::new(EdgeState { rules, relay, max_in_memory, log, hooks, stopping: stopped });
        let listener =
            TcpListener::bind(listen).await.map_err(|source| EdgeError::Bind { addr: listen, source })?;
        let server = Server::start(listener, protocol, limits, move |request, peer| {
            handle(Arc::clone(&state), request, peer)
        })
        .map_err(|source| EdgeError::Io { operation: "read the port that the edge listens on", source })?;
        Ok(Self { server, https, stopping, grace: service_timeout + GRACE })
    }

    /// Listen address, with the actual port.
    pub fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// Base URL, such as `http://127.0.0.1:49152`.
    pub fn url(&self) -> String {
        format!("{}://{}", if self.https { "https" } else { "http" }, self.addr())
    }

    /// Stops listening, finishes the requests under way, and closes all connections.
    pub async fn stop(self) {
        self.stopping.send_replace(true);
        self.server.stop(self.grace).await;
    }
}

impl fmt::Debug for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Edge({})", self.url())
    }
}

fn listener_protocol(tls: Option<EdgeTls>) -> Result<ListenerProtocol, EdgeError> {
    let Some(EdgeTls { chain, key }) = tls else { return Ok(ListenerProtocol::Plain) };
    let config = server_config(chain, key, ClientAuth::None).map_err(|why| EdgeError::Pair {
        cert: "--cert",
        key: "--key",
        why: why.to_string(),
    })?;
    Ok(ListenerProtocol::Tls(config))
}

/// State that all requests share.
struct EdgeState {
    rules: EdgeRules,
    relay: RelayClient,
    /// Maximum size of a body in memory (bytes).
    max_in_memory: usize,
    log: LogSink,
    hooks: Arc<dyn EdgeFaultHooks>,
    stopping: watch::Receiver<bool>,
}

/// A fault hook closes the connection without an answer.
#[derive(Debug, thiserror::Error)]
#[error("a fault hook closes the connection without an answer")]
struct ClosedByHook;

async fn handle(
    state: Arc<EdgeState>,
    request: Request<Incoming>,
    peer: Arc<Peer>,
) -> Result<Response<Full<Bytes>>, ClosedByHook> {
    let handshake = websocket::handshake(&request);
    let facts = RequestFacts::new(&request, handshake.is_some());
    let (head, body) = request.into_parts();
    let mut request = EdgeRequest {
        facts: &facts,
        query: head.uri.query().unwrap_or_default(),
        headers: &head.headers,
        version: head.version,
        peer: peer.addr,
        connection: peer.connection,
        body: None,
        relays: 0,
    };
    let mut io = SocketIo { state: &state, peer: &peer, headers: &head.headers, body: Some(body) };
    let Some(action) = handle_request(&state.rules, &*state.hooks, &mut request, &mut io).await else {
        let body = io.body.take();
        let action = state.hooks.websocket(&request);
        if let Some(body) = body {
            peer.spawn(websocket::serve(Request::from_parts(head, body), action, state.stopping.clone()));
        }
        return Ok(handshake.unwrap_or_default());
    };
    let answer = match action {
        EdgeAction::Answer(answer) => answer,
        EdgeAction::Later(after, answer) => {
            tokio::time::sleep(after).await;
            answer
        }
        EdgeAction::Raw(answer, bytes) => {
            peer.control.replace_answer(vec![bytes]).await.map_err(|_| ClosedByHook)?;
            EdgeAnswer { status: StatusCode::OK, headers: HeaderMap::new(), body: Bytes::new(), ..answer }
        }
        EdgeAction::Nothing => return Err(ClosedByHook),
        EdgeAction::Silence => {
            let _waiting = Waiting { hooks: &*state.hooks, request: &request };
            std::future::pending().await
        }
    };
    for line in answer.log.iter().flat_map(|lines| lines.lines()) {
        state.log.write(line);
    }
    Ok(response(answer))
}

/// A request that waits for nothing. Dropping it tells the hooks.
struct Waiting<'a> {
    hooks: &'a dyn EdgeFaultHooks,
    request: &'a EdgeRequest<'a>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.hooks.given_up(self.request);
    }
}

/// Sockets of one request.
struct SocketIo<'a> {
    state: &'a EdgeState,
    peer: &'a Peer,
    headers: &'a HeaderMap,
    /// Request body until it is read.
    body: Option<Incoming>,
}

impl EdgeIo for SocketIo<'_> {
    async fn read(&mut self) -> RequestBody {
        let Some(body) = self.body.take() else { return RequestBody::Partial(Bytes::new()) };
        if self.headers.contains_key(EXPECT) && !self.state.hooks.continues() {
            // Nothing is sent in place of hyper's interim answer.
            let swallowed = self.peer.control.replace_answer(Vec::new()).await;
            if swallowed.is_err() {
                return RequestBody::Partial(Bytes::new());
            }
        }
        match relay::read(body, self.state.max_in_memory, BODY_IDLE).await {
            Ok(InboundBody::Complete(body)) => RequestBody::Complete(body),
            Ok(longer) => {
                RequestBody::Streamed(self.state.relay.relay(longer, self.headers, BODY_IDLE).await)
            }
            Err(part) => RequestBody::Partial(part),
        }
    }

    async fn relay(&mut self, body: Bytes) -> RelayResult {
        self.state.relay.relay(InboundBody::Complete(body), self.headers, BODY_IDLE).await
    }

    fn discard(&mut self) {
        let Some(body) = self.body.take() else { return };
        // A client that expects `100 Continue` gets the answer instead and sends no body.
        if !body.is_end_stream() && !self.headers.contains_key(EXPECT) {
            self.peer.spawn(relay::discard(body, self.state.max_in_memory, BODY_IDLE));
        }
    }
}

fn response(answer: EdgeAnswer) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(answer.body));
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    response
}
