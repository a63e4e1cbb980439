//! The demo page of `--page`: it runs the reference collector against an edge of its own, and shows the verdict.

mod backend;
mod content;
mod setup;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_cli::Failure;
use edgeproof_edge::Edge;
use edgeproof_http::{Limits, ListenerProtocol, Server};
use edgeproof_mock::MockService;
use edgeproof_mock::admin::Guard;
use http::header::ALLOW;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use serde_json::Value;
use tokio::net::TcpListener;

use backend::Backend;
use content::Content;

/// A running demo page with its edge. Dropping it closes all connections.
pub(super) struct DemoPage {
    server: Server,
    edge: Edge,
}

/// What the demo page needs.
pub(super) struct PageOptions {
    pub(super) listener: TcpListener,
    /// Its `ALLOWED_ORIGIN` is [`origin`] of the listener.
    pub(super) edge: Edge,
    pub(super) service: Arc<MockService>,
    /// Files of an edge: CA file of the service, client certificate and key.
    pub(super) edge_dir: PathBuf,
}

/// What answers the requests of the page.
struct PageState {
    guard: Guard,
    service: Arc<MockService>,
    backend: Backend,
    edge_addr: SocketAddr,
}

/// Time for requests in flight when the page stops.
const GRACE: Duration = Duration::from_secs(1);

/// Origin of a page at this address. By name, because browsers and collectors trust `localhost` without TLS.
pub(super) fn origin(addr: SocketAddr) -> String {
    format!("http://localhost:{}", addr.port())
}

impl DemoPage {
    /// Serves the page. It accepts connections when this returns.
    pub(super) async fn start(options: PageOptions) -> Result<Self, Failure> {
        let PageOptions { listener, edge, service, edge_dir } = options;
        let advice = "choose another address with --page";
        let addr = listener.local_addr().map_err(|why| Failure::of(&why, advice))?;
        let state = Arc::new(PageState {
            guard: Guard::new(addr, &[]),
            backend: Backend::new(&service, &edge_dir).await?,
            edge_addr: edge.addr(),
            service,
        });
        let limits = Limits { connections: 128, ..Limits::default() };
        let server = Server::start(listener, ListenerProtocol::Plain, limits, move |request, _| {
            let state = Arc::clone(&state);
            async move { Ok::<_, Infallible>(handle(&state, &request).await) }
        });
        Ok(Self { server: server.map_err(|why| Failure::of(&why, advice))?, edge })
    }

    /// Its URL.
    pub(super) fn url(&self) -> String {
        origin(self.server.addr())
    }

    /// Stops the page, then its edge.
    pub(super) async fn stop(self) {
        self.server.stop(GRACE).await;
        self.edge.stop().await;
    }
}

async fn handle(state: &PageState, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let uri = request.uri();
    let content = if state
        .guard
        .check(uri.authority().map(http::uri::Authority::as_str), request.headers())
        .is_err()
    {
        Content::text(StatusCode::FORBIDDEN, "this page answers only browsers that opened it as localhost")
    } else if ![Method::GET, Method::HEAD].contains(request.method()) {
        Content::text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD")
    } else if let Some(file) = Content::file(uri.path()) {
        file
    } else {
        match uri.path() {
            "/setup" => Content::json(&setup::setup(&state.service, &origin(state.edge_addr))),
            "/verdict" => Content::json(&verdict(state, uri.query().unwrap_or_default()).await),
            _ => Content::text(StatusCode::NOT_FOUND, "no such file"),
        }
    };
    let mut response = content.response(&origin(state.edge_addr));
    if response.status() == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

/// What the backend gets for `?ref=…&waitMs=…`.
async fn verdict(state: &PageState, query: &str) -> Value {
    let value = |wanted: &str| {
        let mut pairs = url::form_urlencoded::parse(query.as_bytes());
        pairs.find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned())
    };
    let session_ref = value("ref").unwrap_or_default();
    let wait_ms = value("waitMs").and_then(|millis| millis.parse().ok()).unwrap_or(0);
    state.backend.verdict(&session_ref, wait_ms).await
}
