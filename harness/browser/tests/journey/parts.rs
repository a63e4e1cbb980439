//! The parts of a journey, each behind its own sockets.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_browser::{CallOutcome, Chromium, ChromiumOptions, CollectorCall, Page, PageOptions};
use edgeproof_edge::{Edge, EdgeOptions, LogSink};
use edgeproof_fixtures::collector;
use edgeproof_fixtures::credentials::{
    Credentials, EdgeConnection, EdgeSettings, MintOptions, ReadTokenForm, SettingsFolder,
};
use edgeproof_fixtures::seal::{CollectorMode, SealKeys};
use edgeproof_fixtures::spec::{Endpoint, Spec, Version};
use edgeproof_http::{Draft, Limits, ListenerProtocol, Server, ServerAddress, send};
use edgeproof_launch::{CommandLine, Launch, RunningProgram};
use edgeproof_mock::{MockService, ServiceEndpoint, ServiceOptions};
use http::Response;
use http_body_util::Full;
use jwt_compact::alg::Ed25519;
use jwt_compact::jwk::JsonWebKey;
use jwt_compact::{AlgorithmExt as _, UntrustedToken};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, MutexGuard};

/// Which edge relays.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EdgeKind {
    /// The reference edge, in this process.
    Embedded,
    /// The example edge in Node, a process of its own.
    Node,
}

/// Browser, page, edge and service of one test.
pub(crate) struct Journey {
    chromium: Chromium,
    site: Server,
    edge: AnyEdge,
    service: MockService,
    backend: ServerAddress,
    /// Settings of the edge.
    _folder: TempDir,
    _alone: MutexGuard<'static, ()>,
}

enum AnyEdge {
    Embedded(Edge),
    Node(RunningProgram),
}

/// Timeout of a call in the page, and of an answer of the service.
const LIMIT: Duration = Duration::from_secs(30);
/// One journey at a time: several browsers on few cores make measurements come too late.
static ALONE: Mutex<()> = Mutex::const_new(());
const NODE_EDGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/edges/node/edge.mjs");

impl Journey {
    pub(crate) async fn start(kind: EdgeKind) -> Self {
        let alone = ALONE.lock().await;
        let spec = Arc::new(Spec::builtin(Version::Current));
        let credentials = Arc::new(Credentials::mint(&MintOptions::default()).unwrap());
        let options = ServiceOptions { magic: true, ..ServiceOptions::new(spec, Arc::clone(&credentials)) };
        let service = MockService::start_with(options).await.unwrap();
        let site = site().await;

        let folder = TempDir::new().unwrap();
        let dir = folder.path().join("settings");
        let connection =
            EdgeConnection { service_url: service.url(), allowed_origin: origin(&site), mounted_at: None };
        SettingsFolder::save(&credentials, &dir, &connection, Spec::current()).unwrap();
        let edge = AnyEdge::start(kind, &service, connection.edge_settings(&credentials, &dir)).await;
        let backend = backend(&service, &dir.join("edge").join("service-ca.pem")).await;
        let chromium = Chromium::launch(ChromiumOptions::default())
            .await
            .unwrap_or_else(|why| panic!("{why}: {}", miette::Diagnostic::help(&why).unwrap()));
        Self { chromium, site, edge, service, backend, _folder: folder, _alone: alone }
    }

    /// Opens a page and creates the reference collector in it.
    pub(crate) async fn page(&self, mode: CollectorMode) -> Page {
        let url = format!("{}/", origin(&self.site));
        let page =
            self.chromium.open(PageOptions { time_limit: LIMIT, ..PageOptions::new(url) }).await.unwrap();
        let options = json!({
            "apiUrl": self.edge_url(),
            "sealKey": self.service.seal_key().to_jwk(),
            "mode": mode,
        });
        for call in [
            CollectorCall::Load { module_url: "/collector.js".to_owned() },
            CollectorCall::Create { options, signal: false },
        ] {
            assert_eq!(page.call(call).await, CallOutcome::Returned(Value::Null));
        }
        page
    }

    /// The edge, as the page reaches it: by the one name that collectors accept without TLS.
    pub(crate) fn edge_url(&self) -> String {
        format!("http://localhost:{}", self.edge.addr().port())
    }

    /// Bodies of the collections that reached the service.
    pub(crate) fn relayed(&self) -> Vec<Bytes> {
        let arrivals = self.service.journal().into_iter();
        arrivals.filter(|one| one.endpoint == ServiceEndpoint::Relay).map(|one| one.request.body).collect()
    }

    /// Status and body that the backend gets.
    pub(crate) async fn verdict(&self, reference: &str, wait_ms: u64) -> (u16, Value) {
        let path = Spec::current()
            .verdict_path()
            .with(&utf8_percent_encode(reference, NON_ALPHANUMERIC).to_string());
        let token = self.service.credentials().read_token(ReadTokenForm::Valid);
        let draft = Draft::new("GET", &format!("{path}?waitMs={wait_ms}"))
            .header("Authorization", &format!("Bearer {token}"));
        self.get(&draft).await
    }

    /// Claims of a token that a key of the published set verifies.
    pub(crate) async fn verified_claims(&self, token: &str) -> Value {
        let (status, set) = self.get(&Draft::new("GET", Spec::current().path(Endpoint::KeySet))).await;
        assert_eq!(status, 200);
        let token = UntrustedToken::new(token).unwrap();
        let kid = token.header().key_id.clone().unwrap();
        let key = set["keys"].as_array().unwrap().iter().find(|key| key["kid"] == kid).unwrap();
        let key: JsonWebKey<'_> = serde_json::from_value(key.clone()).unwrap();
        let verified = Ed25519.validator::<Value>(&(&key).try_into().unwrap()).validate(&token).unwrap();
        verified.claims().custom.clone()
    }

    pub(crate) fn seal_keys(&self) -> &SealKeys {
        self.service.credentials().seal_keys()
    }

    pub(crate) fn license_id(&self) -> &str {
        self.service.credentials().license_id()
    }

    /// Stops everything, in the order of the requests.
    pub(crate) async fn stop(self) {
        self.chromium.close().await;
        self.site.stop(Duration::ZERO).await;
        match self.edge {
            AnyEdge::Embedded(edge) => edge.stop().await,
            AnyEdge::Node(program) => program.stop().await,
        }
        self.service.stop().await;
    }

    async fn get(&self, draft: &Draft) -> (u16, Value) {
        let answer = send(&self.backend, draft, LIMIT).await.reply.unwrap();
        (answer.status, serde_json::from_slice(&answer.body).unwrap())
    }
}

impl AnyEdge {
    async fn start(kind: EdgeKind, service: &MockService, settings: EdgeSettings) -> Self {
        match kind {
            EdgeKind::Embedded => {
                let options = EdgeOptions {
                    listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
                    ..EdgeOptions::new(Arc::clone(service.spec()), settings, LogSink::new(|_| {}))
                };
                Self::Embedded(Edge::start(options).await.unwrap())
            }
            EdgeKind::Node => {
                let command = CommandLine::parse(&shell_words::join(["node", NODE_EDGE])).unwrap();
                Self::Node(Launch::new(command).start(&settings).await.unwrap())
            }
        }
    }

    fn addr(&self) -> SocketAddr {
        match self {
            Self::Embedded(edge) => edge.addr(),
            Self::Node(program) => program.addr(),
        }
    }
}

/// A site with an empty page and the collector's module.
async fn site() -> Server {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    Server::start(listener, ListenerProtocol::Plain, Limits::default(), |request, _| async move {
        let (status, media_type, body) = match request.uri().path() {
            "/" => (200, "text/html", "<!doctype html><title>Shop</title>"),
            "/collector.js" => (200, "text/javascript", collector::MODULE),
            _ => (404, "text/plain", ""),
        };
        let answer = Response::builder().status(status).header("content-type", media_type);
        Ok::<_, Infallible>(answer.body(Full::from(body)).unwrap())
    })
    .unwrap()
}

/// Origin of its pages: a secure context, because it is `localhost`.
fn origin(site: &Server) -> String {
    format!("http://localhost:{}", site.addr().port())
}

/// The service, as a backend reaches it.
async fn backend(service: &MockService, ca_file: &Path) -> ServerAddress {
    ServerAddress::resolve(&service.url().parse().unwrap(), Some(ca_file)).await.unwrap()
}
