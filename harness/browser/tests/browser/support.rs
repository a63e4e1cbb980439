//! One browser and one runtime for all tests, and sites for its pages.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;
use edgeproof_browser::{
    BrowserError, CallOutcome, Chromium, ChromiumOptions, CollectorCall, Page, PageOptions,
};
use edgeproof_http::{Limits, ListenerProtocol, Server};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use parking_lot::Mutex;
use rcgen::{CertificateParams, KeyPair, PublicKeyData as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

/// Time limit of pages whose calls end.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// Time limit of calls that do not end.
pub(crate) const SHORT: Duration = Duration::from_secs(1);

/// The browser lives longer than the runtime of a single test.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("a runtime starts"));
/// Key of all certificates that the browser accepts.
static KEY: LazyLock<KeyPair> = LazyLock::new(|| KeyPair::generate().expect("a key is made"));

/// Runs a test.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    RUNTIME.block_on(test)
}

/// Starts a browser.
pub(crate) async fn launch() -> Chromium {
    let digest = Sha256::digest(KEY.subject_public_key_info());
    let trusted_spki = vec![base64::Engine::encode(&base64::engine::general_purpose::STANDARD, digest)];
    Chromium::launch(ChromiumOptions { executable: None, trusted_spki })
        .await
        .unwrap_or_else(|why| failed(&why))
}

/// The browser that the tests share. It ends with the test program.
pub(crate) async fn browser() -> &'static Chromium {
    static BROWSER: OnceCell<Chromium> = OnceCell::const_new();
    BROWSER.get_or_init(launch).await
}

fn failed(why: &BrowserError) -> ! {
    panic!("{why}\n{}", miette::Diagnostic::help(why).map(|help| help.to_string()).unwrap_or_default())
}

/// Opens a page in the shared browser.
pub(crate) async fn open(url: String) -> Page {
    open_with(PageOptions { time_limit: LIMIT, ..PageOptions::new(url) }).await
}

/// Opens a page in the shared browser.
pub(crate) async fn open_with(options: PageOptions) -> Page {
    browser().await.open(options).await.unwrap_or_else(|why| failed(&why))
}

/// Opens a page of a new site with `/module.js`, and loads and creates its collector. `time_limit` is that of later calls.
pub(crate) async fn collector(module: &str, time_limit: Duration) -> (Site, Page) {
    let site = Site::with_module(module).await;
    let page = open(site.url("/")).await;
    let loaded = page.call(CollectorCall::Load { module_url: "/module.js".into() }).await;
    assert_eq!(loaded, CallOutcome::Returned(Value::Null));
    let created = page.call(create()).await;
    assert_eq!(created, CallOutcome::Returned(Value::Null));
    (site, page.with_time_limit(time_limit))
}

pub(crate) fn create() -> CollectorCall {
    CollectorCall::Create { options: json!({}), signal: false }
}

pub(crate) fn start() -> CollectorCall {
    CollectorCall::Start { session_ref: Some("ref".into()) }
}

/// Request that reached a site.
#[derive(Debug, Clone)]
pub(crate) struct Arrival {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

pub(crate) type Answer = Response<Full<Bytes>>;

/// Site on a port of its own. Dropping it closes it.
#[derive(Debug)]
pub(crate) struct Site {
    server: Server,
    arrivals: Arc<Mutex<Vec<Arrival>>>,
}

impl Site {
    /// Site whose answers are chosen by `answer`. `None` is never answered.
    pub(crate) async fn start(answer: impl Fn(&Arrival) -> Option<Answer> + Send + Sync + 'static) -> Self {
        Self::speaking(ListenerProtocol::Plain, answer).await
    }

    /// The same over TLS, with a certificate for `host` that is signed by its own key.
    pub(crate) async fn with_tls(
        host: &str,
        key: Option<&KeyPair>,
        answer: impl Fn(&Arrival) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        let key = key.unwrap_or(&KEY);
        let certificate = CertificateParams::new([host.to_owned()]).unwrap().self_signed(key).unwrap();
        let private = rustls_pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = edgeproof_http::server_config(
            vec![certificate.into()],
            private,
            edgeproof_http::ClientAuth::None,
        );
        Self::speaking(ListenerProtocol::Tls(config.unwrap()), answer).await
    }

    async fn speaking(
        protocol: ListenerProtocol,
        answer: impl Fn(&Arrival) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        let arrivals: Arc<Mutex<Vec<Arrival>>> = Arc::default();
        let (record, answer) = (Arc::clone(&arrivals), Arc::new(answer));
        let handler = move |request: Request<Incoming>, _| {
            let (record, answer) = (Arc::clone(&record), Arc::clone(&answer));
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
                let arrival = Arrival {
                    method: head.method.to_string(),
                    path: head.uri.path().to_owned(),
                    headers: head.headers,
                    body,
                };
                record.lock().push(arrival.clone());
                match answer(&arrival) {
                    Some(answer) => Ok::<_, Infallible>(answer),
                    None => std::future::pending().await,
                }
            }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server::start(listener, protocol, Limits::default(), handler).unwrap();
        Self { server, arrivals }
    }

    /// Site with an HTML page at `/` and a script at `/module.js`.
    pub(crate) async fn with_module(module: &str) -> Self {
        let module = module.to_owned();
        Self::start(move |arrival| {
            Some(match arrival.path.as_str() {
                "/" | "/other" => html("<!doctype html><title>page</title>"),
                "/module.js" => script(&module),
                _ => status(404),
            })
        })
        .await
    }

    /// URL at `localhost`.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.port())
    }

    pub(crate) fn port(&self) -> u16 {
        self.server.addr().port()
    }

    /// Requests so far, without those for the icon.
    pub(crate) fn arrivals(&self) -> Vec<Arrival> {
        let all = self.arrivals.lock();
        all.iter().filter(|arrival| arrival.path != "/favicon.ico").cloned().collect()
    }
}

pub(crate) fn html(text: &str) -> Answer {
    typed("text/html", text)
}

pub(crate) fn script(text: &str) -> Answer {
    typed("text/javascript", text)
}

pub(crate) fn typed(content_type: &str, text: &str) -> Answer {
    Response::builder().header("content-type", content_type).body(text.to_owned().into()).unwrap()
}

pub(crate) fn status(status: u16) -> Answer {
    Response::builder().status(status).body(Full::default()).unwrap()
}

/// Adds headers that let any page read the answer.
pub(crate) fn readable(mut answer: Answer) -> Answer {
    for (name, value) in [
        ("access-control-allow-origin", "*"),
        ("access-control-allow-headers", "*"),
        ("access-control-allow-methods", "*"),
    ] {
        answer.headers_mut().insert(name, http::HeaderValue::from_static(value));
    }
    answer
}
