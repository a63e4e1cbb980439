use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_edge::{Edge, EdgeOptions, LogSink};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, EdgeSettings, MintOptions, Secret};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_http::{Answer, Body, Draft, ServerAddress, send};
use edgeproof_launch::{LogTail, Stream};
use edgeproof_mock::{
    Action, ListenerMode, Match, MockService, Reply, Script, Scripted, ServiceOptions, When,
};
use url::Url;

/// Timeout of an exchange.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);
pub(crate) const SIGNALS: &str = "/v1/signals";
pub(crate) const ORIGIN: &str = "https://shop.example";

/// An edge in front of the mock service.
pub(crate) struct Fixture {
    pub(crate) spec: Arc<Spec>,
    pub(crate) credentials: Arc<Credentials>,
    pub(crate) files: CredentialFiles,
    pub(crate) service: MockService,
    pub(crate) edge: Edge,
    pub(crate) endpoint: ServerAddress,
    pub(crate) log: LogTail,
}

impl Fixture {
    /// All settings valid.
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// Changes the settings before the start.
    pub(crate) async fn with(change: impl FnOnce(&mut EdgeSettings)) -> Self {
        Self::with_options(|options| change(&mut options.settings)).await
    }

    /// The service listens in this mode: over plain HTTP the edge uses HTTP/1.1, otherwise HTTP/2.
    pub(crate) async fn in_mode(mode: ListenerMode) -> Self {
        let fixture = Self::with(|settings| {
            if mode == ListenerMode::PlainHttp {
                settings.service_url = settings.service_url.take().map(|url| url.replace("https:", "http:"));
            }
        })
        .await;
        fixture.service.set_mode(mode).await.unwrap();
        fixture
    }

    /// Changes the options before the start.
    pub(crate) async fn with_options(change: impl FnOnce(&mut EdgeOptions)) -> Self {
        let spec = Arc::new(Spec::builtin(Version::Current));
        let credentials = Arc::new(Credentials::mint(&MintOptions::default()).unwrap());
        let files = CredentialFiles::write(&credentials).unwrap();
        let service = ServiceOptions::new(Arc::clone(&spec), Arc::clone(&credentials));
        let service = MockService::start_with(service).await.unwrap();
        let log = LogTail::default();
        let settings = files.settings(&credentials, &service.url(), ORIGIN);
        let mut options = EdgeOptions::new(Arc::clone(&spec), settings, sink(&log));
        change(&mut options);
        let edge = Edge::start(options).await.unwrap();
        let endpoint = endpoint(&edge).await;
        Self { spec, credentials, files, service, edge, endpoint, log }
    }

    /// The mock service performs `action` on every request.
    pub(crate) fn script(&self, action: Action) -> Scripted {
        self.service.script(Match::Everything, script(action))
    }

    /// The mock service answers every request with this status and body.
    pub(crate) fn scripted(&self, status: u16, body: &str) -> Scripted {
        self.script(answer(status, body))
    }

    pub(crate) async fn post(&self, body: impl Into<Bytes>) -> Answer {
        exchange(&self.endpoint, &post(body)).await
    }

    pub(crate) async fn send(&self, draft: &Draft) -> Answer {
        exchange(&self.endpoint, draft).await
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.log.since(0).into_iter().map(|line| line.text).collect()
    }
}

/// Adds lines to a log.
fn sink(log: &LogTail) -> LogSink {
    let log = log.clone();
    LogSink::new(move |line| log.push(Stream::Out, line))
}

/// An edge without a mock service.
pub(crate) async fn edge(settings: EdgeSettings) -> (Edge, ServerAddress, LogTail) {
    let log = LogTail::default();
    let spec = Arc::new(Spec::builtin(Version::Current));
    let edge = Edge::start(EdgeOptions::new(spec, settings, sink(&log))).await.unwrap();
    let endpoint = endpoint(&edge).await;
    (edge, endpoint, log)
}

/// Settings for a service without TLS.
pub(crate) fn plain_settings(service_url: &str) -> EdgeSettings {
    EdgeSettings {
        license: Some(Secret::new("a-license")),
        service_url: Some(service_url.to_owned()),
        allowed_origin: Some(ORIGIN.to_owned()),
        ..EdgeSettings::default()
    }
}

pub(crate) async fn endpoint(edge: &Edge) -> ServerAddress {
    ServerAddress::resolve(&Url::parse(&edge.url()).unwrap(), None).await.unwrap()
}

pub(crate) async fn exchange(endpoint: &ServerAddress, draft: &Draft) -> Answer {
    let answer = send(endpoint, draft, LIMIT).await.reply.unwrap_or_else(|why| panic!("{draft:?}: {why}"));
    assert!(answer.complete, "{draft:?}: {answer:?}");
    answer
}

pub(crate) fn draft(method: &str, path: &str) -> Draft {
    Draft::new(method, path).header("origin", ORIGIN)
}

pub(crate) fn post(body: impl Into<Bytes>) -> Draft {
    draft("POST", SIGNALS).header("content-type", "application/json").body(Body::Sized(body.into()))
}

pub(crate) fn script(action: Action) -> Script {
    Script { replies: vec![reply(action)] }
}

pub(crate) fn reply(action: Action) -> Reply {
    Reply { delay: Duration::ZERO, when: When::AfterBody, action }
}

pub(crate) fn answer(status: u16, body: &str) -> Action {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Action::Answer { status, headers, body: Bytes::from(body.to_owned()) }
}

pub(crate) fn text(answer: &Answer) -> &str {
    std::str::from_utf8(&answer.body).unwrap()
}

pub(crate) fn header<'a>(answer: &'a Answer, name: &str) -> Option<&'a str> {
    answer.headers.get(name).map(|value| value.to_str().unwrap())
}

/// Checks status, body and CORS grant.
#[track_caller]
pub(crate) fn check(answer: &Answer, status: u16, body: &str) {
    assert_eq!((answer.status, text(answer)), (status, body));
    assert_eq!(header(answer, "access-control-allow-origin"), Some(ORIGIN));
}

pub(crate) const OK: &str = r#"{"ok":true}"#;
pub(crate) const UNREACHABLE: &str = r#"{"error":"service_unreachable"}"#;
pub(crate) const READ_FAILED: &str = r#"{"error":"read_failed"}"#;
