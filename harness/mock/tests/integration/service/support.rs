//! A mock service with its credentials, and clients that are independent of the harness.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use edgeproof_fixtures::credentials::{Credentials, LicenseForm, MintOptions, ReadTokenForm, Role};
use edgeproof_fixtures::seal::Collection;
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_mock::{Action, MockService, Reply, Script, ServiceOptions, When};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Timeout of a test step; reached only by a failure.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// The result of a step that ends within [`LONG`].
pub(crate) async fn within<T>(step: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, step).await.expect("the step ends")
}

/// A mock service with its credentials.
pub(crate) struct Bench {
    pub(crate) service: MockService,
    pub(crate) credentials: Arc<Credentials>,
}

impl Bench {
    pub(crate) async fn start() -> Self {
        Self::with(Version::Current, |_| {}).await
    }

    pub(crate) async fn with(version: Version, adjust: impl FnOnce(&mut ServiceOptions)) -> Self {
        let credentials = Arc::new(Credentials::mint(&MintOptions::default()).unwrap());
        let mut options = ServiceOptions::new(Arc::new(Spec::builtin(version)), Arc::clone(&credentials));
        adjust(&mut options);
        Self { service: MockService::start_with(options).await.unwrap(), credentials }
    }

    /// TLS configuration of a client with this certificate.
    pub(crate) fn tls(&self, client: Option<Role>, protocol: &str) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(self.credentials.certificate(Role::ServiceAuthority).der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match client.map(|role| self.credentials.certificate(role)) {
            None => builder.with_no_client_auth(),
            Some(client) => builder.with_client_auth_cert(client.chain_der(), client.key_der()).unwrap(),
        };
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        Arc::new(config)
    }

    /// TLS connection with the certificate of the license.
    pub(crate) async fn connect(&self, protocol: &str) -> TlsStream<TcpStream> {
        let tls = self.tls(Some(Role::ClientForLicense), protocol);
        connect(self.service.addr(), tls).await.unwrap()
    }

    /// Request of a valid edge.
    pub(crate) fn request(&self, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
        Request::post(format!("https://localhost:{}/v1/relay", self.service.addr().port()))
            .header("host", "localhost")
            .header("authorization", format!("Bearer {}", self.credentials.license(LicenseForm::Valid)))
            .header("content-type", "application/json")
            .body(Full::new(body.into()))
            .unwrap()
    }

    /// A fresh sealed collection.
    pub(crate) fn sealed(&self, reference: &str) -> Vec<u8> {
        Collection::generated(reference, 7, SystemTime::now()).seal(&self.service.seal_key())
    }

    /// Request for a verdict with the valid read token.
    pub(crate) fn poll(&self, path_and_query: &str) -> Request<Full<Bytes>> {
        self.poll_as(ReadTokenForm::Valid, path_and_query)
    }

    pub(crate) fn poll_as(&self, form: ReadTokenForm, path_and_query: &str) -> Request<Full<Bytes>> {
        let mut request =
            Request::get(self.uri(&format!("/v1/verdict/{path_and_query}"))).header("host", "localhost");
        if let Some(authorization) = self.credentials.authorization(form) {
            request = request.header("authorization", authorization);
        }
        request.body(Full::default()).unwrap()
    }

    pub(crate) fn uri(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.service.addr().port())
    }

    /// Answer over a new HTTP/1.1 connection.
    pub(crate) async fn get(&self, path: &str) -> Response<Bytes> {
        self.send(Request::get(self.uri(path)).header("host", "localhost").body(Full::default()).unwrap())
            .await
    }

    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Response<Bytes> {
        let mut client = http1(self.connect("http/1.1").await).await;
        let (head, body) = within(client.send_request(request)).await.unwrap().into_parts();
        Response::from_parts(head, within(body.collect()).await.unwrap().to_bytes())
    }

    /// Status and body of the answer to a request for a verdict.
    pub(crate) async fn verdict(&self, path_and_query: &str) -> (u16, Bytes) {
        let answer = self.send(self.poll(path_and_query)).await;
        (answer.status().as_u16(), answer.into_body())
    }

    /// Answer over a new HTTP/1.1 connection.
    pub(crate) async fn post(&self, body: impl Into<Bytes>) -> (u16, Bytes) {
        let mut client = http1(self.connect("http/1.1").await).await;
        answered(client.send_request(self.request(body))).await
    }
}

pub(crate) async fn connect(
    addr: SocketAddr,
    tls: Arc<ClientConfig>,
) -> std::io::Result<TlsStream<TcpStream>> {
    let tcp = TcpStream::connect(addr).await?;
    let name = ServerName::try_from("localhost").unwrap();
    within(TlsConnector::from(tls).connect(name, tcp)).await
}

pub(crate) type Http1 = hyper::client::conn::http1::SendRequest<Full<Bytes>>;
pub(crate) type Http2 = hyper::client::conn::http2::SendRequest<Full<Bytes>>;

pub(crate) async fn http1<S>(stream: S) -> Http1
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
{
    let (client, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    client
}

pub(crate) async fn http2(stream: TlsStream<TcpStream>) -> Http2 {
    let io = TokioIo::new(stream);
    let (client, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Status and body.
pub(crate) async fn read(response: Response<Incoming>) -> (u16, Bytes) {
    (response.status().as_u16(), within(response.into_body().collect()).await.unwrap().to_bytes())
}

/// Status and body of the answer to a sent request.
pub(crate) async fn answered(sent: impl Future<Output = hyper::Result<Response<Incoming>>>) -> (u16, Bytes) {
    read(within(sent).await.unwrap()).await
}

/// Writes these bytes and reads to the end of the stream, within [`LONG`].
pub(crate) async fn converse<S>(stream: &mut S, bytes: &[u8]) -> (Vec<u8>, std::io::Result<()>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    within(stream.write_all(bytes)).await.unwrap();
    within(stream.flush()).await.unwrap();
    let mut read = Vec::new();
    let ended = within(stream.read_to_end(&mut read)).await;
    (read, ended.map(drop))
}

/// A script with these replies.
pub(crate) fn script(actions: impl IntoIterator<Item = Action>) -> Script {
    let reply = |action| Reply { delay: Duration::ZERO, when: When::AfterBody, action };
    Script { replies: actions.into_iter().map(reply).collect() }
}

/// An answer without headers.
pub(crate) fn answer(status: u16, body: &str) -> Action {
    Action::Answer { status, headers: Vec::new(), body: Bytes::copy_from_slice(body.as_bytes()) }
}
