use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::{Profile, Spec};
use edgeproof_http::{ClientAuth, Limits, ListenerProtocol, Peer, Server, server_config};
use http::header::EXPECT;
use http::{HeaderMap, Request, Response};
use hyper::body::{Body, Incoming};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::decide::{EdgeAnswer, Relayed, RequestFacts};
use super::fault_hooks::{EdgeAction, EdgeFaultHooks, EdgeRequest, NoFaults};
use super::handler::{EdgeIo, RequestBody, handle_request};
use super::inbound::Inbound;
use super::payload::Payload;
use super::relay::Relay;
use super::rules::Rules;
use super::style::{HeaderCase, Redirect, Style};
use super::{EdgeError, inbound, service, websocket};
use edgeproof_launch::{LogTail, Stream};

/// Longest time without a byte while a body is read.
const BODY_IDLE: Duration = Duration::from_secs(30);

/// Bytes beyond what the service takes that are still kept in memory; longer bodies are relayed as they come.
const KEPT_BEYOND_LIMIT: usize = 64 * 1024;

/// Beyond the time for the service: for the answer to the page.
const GRACE: Duration = Duration::from_secs(2);

/// What an edge is started with.
#[derive(Clone)]
pub struct EdgeOptions {
    /// The tables that its answers come from.
    pub spec: Arc<Spec>,
    /// What it does at open points.
    pub profile: Profile,
    /// Its settings; the files are read at the start.
    pub settings: EdgeSettings,
    /// Where it listens; port 0 for one that is free.
    pub listen: SocketAddr,
    /// Certificate and key to serve HTTPS with, in HTTP/1.1 and HTTP/2; none for HTTP.
    pub tls: Option<EdgeTls>,
    /// Where its log lines go.
    pub log: LogSink,
    /// How long it waits for the service before it calls it unreachable.
    pub service_timeout: Duration,
    /// What it does where the interface leaves a choice.
    pub style: Style,
    /// Where it does other than it should: none but for deviations, which prove that the cases notice.
    pub hooks: Arc<dyn EdgeFaultHooks>,
}

/// With what an edge serves HTTPS.
#[derive(Debug)]
pub struct EdgeTls {
    /// Its certificate first, then its issuers.
    pub chain: Vec<CertificateDer<'static>>,
    /// The key.
    pub key: PrivateKeyDer<'static>,
}

/// Takes log lines, without line ends. Called from request handlers: must not block.
#[derive(Clone)]
pub struct LogSink(Arc<dyn Fn(String) + Send + Sync>);

/// The reference edge, listening. Dropping it ends everything at once.
pub struct Edge {
    server: Server,
    https: bool,
    stopping: watch::Sender<bool>,
    grace: Duration,
}

struct Context {
    rules: Rules,
    relay: Relay,
    kept: usize,
    style: Style,
    log: LogSink,
    hooks: Arc<dyn EdgeFaultHooks>,
    stopping: watch::Receiver<bool>,
}

impl EdgeOptions {
    /// An edge on a free port of this machine, without HTTPS, that waits for the service as long as the profile says.
    pub fn new(spec: Arc<Spec>, settings: EdgeSettings, log: LogSink) -> Self {
        let profile = spec.profile().clone();
        let service_timeout = profile.relay_timeout;
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let (style, hooks) = (Style::default(), Arc::new(NoFaults));
        Self { spec, profile, settings, listen, tls: None, log, service_timeout, style, hooks }
    }
}

impl Clone for EdgeTls {
    fn clone(&self) -> Self {
        Self { chain: self.chain.clone(), key: self.key.clone_key() }
    }
}

impl LogSink {
    /// Hands each line to `write`.
    pub fn new(write: impl Fn(String) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }

    /// Writes a line.
    pub fn write(&self, line: impl Into<String>) {
        (self.0)(line.into());
    }
}

impl From<LogTail> for LogSink {
    fn from(tail: LogTail) -> Self {
        Self::new(move |line| tail.push(Stream::Out, line))
    }
}

impl Edge {
    /// Reads the files that the settings name, and listens. Needs a tokio runtime.
    pub async fn start(options: EdgeOptions) -> Result<Self, EdgeError> {
        let EdgeOptions { spec, profile, settings, listen, tls, log, service_timeout, style, hooks } =
            options;
        let mut rules = Rules::new(&spec, &profile, settings.allowed_origin.as_deref())?;
        rules.reason = style.reason;
        let relay = service::relay(&settings, &profile, service_timeout, style, hooks.habits())?;
        let https = tls.is_some();
        let protocol =
            match tls {
                None => ListenerProtocol::Plain,
                Some(EdgeTls { chain, key }) => {
                    let config = server_config(chain, key, ClientAuth::None).map_err(|why| {
                        EdgeError::Pair { cert: "--cert", key: "--key", why: why.to_string() }
                    })?;
                    ListenerProtocol::Tls(config)
                }
            };
        if let Some(line) = service::half_a_pair(&settings) {
            log.write(line);
        }
        let (stopping, stopped) = watch::channel(false);
        let kept = profile.max_body.saturating_add(KEPT_BEYOND_LIMIT);
        let context = Arc::new(Context { rules, relay, kept, style, log, hooks, stopping: stopped });
        let listener =
            TcpListener::bind(listen).await.map_err(|source| EdgeError::Bind { addr: listen, source })?;
        let limits = Limits { title_case: style.header_case == HeaderCase::Title, ..Limits::default() };
        let server = Server::start(listener, protocol, limits, move |request, peer| {
            handle(Arc::clone(&context), request, peer)
        })
        .map_err(|source| EdgeError::Io { what: "learn the port that the edge listens on", source })?;
        Ok(Self { server, https, stopping, grace: service_timeout + GRACE })
    }

    /// The address it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.server.addr()
    }

    /// Its origin, such as `http://127.0.0.1:49152`.
    pub fn url(&self) -> String {
        format!("{}://{}", if self.https { "https" } else { "http" }, self.addr())
    }

    /// Stops listening, finishes the requests that are under way, and closes all connections.
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

/// The connection is closed without an answer.
#[derive(Debug, thiserror::Error)]
#[error("answer: the connection is closed on purpose")]
struct Unanswered;

async fn handle(
    context: Arc<Context>,
    request: Request<Incoming>,
    peer: Arc<Peer>,
) -> Result<Response<Payload>, Unanswered> {
    let opening = websocket::handshake(&request);
    let facts = RequestFacts::of(&request, opening.is_some());
    let (head, body) = request.into_parts();
    let mut asked = EdgeRequest {
        facts: &facts,
        headers: &head.headers,
        version: head.version,
        peer: peer.addr,
        connection: peer.connection,
        body: None,
    };
    let mut io = SocketIo { context: &context, peer: &peer, headers: &head.headers, body: Some(body) };
    let Some(action) = handle_request(&context.rules, &*context.hooks, &mut asked, &mut io).await else {
        if let Some(body) = io.body.take() {
            peer.spawn(websocket::echo(Request::from_parts(head, body), context.stopping.clone()));
        }
        return Ok(opening.unwrap_or_default().map(|_| Payload::default()));
    };
    let answer = match action {
        EdgeAction::Answer(answer) => answer,
        EdgeAction::Nothing => return Err(Unanswered),
        EdgeAction::Silence => std::future::pending().await,
    };
    let answer = context.style.answer(&context.rules, &facts, answer);
    for line in answer.log.iter().flat_map(|lines| lines.lines()) {
        context.log.write(line);
    }
    Ok(respond(answer, context.style))
}

/// Sockets of one request.
struct SocketIo<'a> {
    context: &'a Context,
    peer: &'a Peer,
    headers: &'a HeaderMap,
    /// Request body until it is read.
    body: Option<Incoming>,
}

impl EdgeIo for SocketIo<'_> {
    async fn read(&mut self) -> RequestBody {
        let Some(body) = self.body.take() else { return RequestBody::Partial(Bytes::new()) };
        match inbound::read(body, self.context.kept, BODY_IDLE).await {
            Ok(Inbound::Whole(body)) => RequestBody::Complete(body),
            Ok(longer) => RequestBody::Streamed(self.context.relay(longer, self.headers).await),
            Err(part) => RequestBody::Partial(part),
        }
    }

    async fn relay(&mut self, body: Bytes) -> Relayed {
        self.context.relay(Inbound::Whole(body), self.headers).await
    }

    fn discard(&mut self) {
        let Some(body) = self.body.take() else { return };
        // A client that expects `100 Continue` gets the answer instead and sends no body.
        if !body.is_end_stream() && !self.headers.contains_key(EXPECT) {
            self.peer.spawn(inbound::discard(body, self.context.kept, BODY_IDLE));
        }
    }
}

impl Context {
    async fn relay(&self, body: Inbound, page: &HeaderMap) -> Relayed {
        self.seen(self.relay.relay(body, page, BODY_IDLE).await)
    }

    /// What came of relaying, as this style sees it.
    fn seen(&self, relayed: Relayed) -> Relayed {
        match relayed {
            Relayed::Answered { status, .. }
                if status.is_redirection() && self.style.redirect == Redirect::NoAnswer =>
            {
                Relayed::NoAnswer
            }
            other => other,
        }
    }
}

fn respond(answer: EdgeAnswer, style: Style) -> Response<Payload> {
    let mut response = Response::new(Payload::new(answer.body, style.framing));
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    response
}
