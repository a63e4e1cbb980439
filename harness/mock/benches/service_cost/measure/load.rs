//! The client for relayed collections and verdicts.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use edgeproof_fixtures::credentials::{Credentials, LicenseForm, ReadTokenForm, Role};
use edgeproof_fixtures::seal::{Collection, Sealer};
use edgeproof_mock::{MockService, NewSession};
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

use super::server::MeasuredServer;

/// Open connections.
pub(crate) const CONNECTIONS: usize = 32;
/// Duration of the load on a constant answer.
const TIME: Duration = Duration::from_secs(2);
/// Relayed collections, each sent once.
const COLLECTIONS: usize = 8_000;

/// CPU time of a collection without TLS, which the server answers without verifying it (µs).
pub(crate) async fn collections<S: Send + 'static>(server: &MeasuredServer<S>) -> f64 {
    let body = Full::new(Bytes::from("{\"a\":1}".repeat(200)));
    repeated(server, &request(Method::POST, "/v1/relay", "none", body)).await
}

/// CPU time of a request for a ready verdict without TLS, with a real read token (µs).
pub(crate) async fn verdicts(server: &MeasuredServer<MockService>) -> f64 {
    server.service.add_session(NewSession::new("session-1"));
    let read_token = server.service.credentials().read_token(ReadTokenForm::Valid);
    repeated(server, &request(Method::GET, "/v1/verdict/session-1", &read_token, Full::default())).await
}

/// CPU time of the same request, sent over and over (µs).
async fn repeated<S: Send + 'static>(server: &MeasuredServer<S>, request: &Request<Full<Bytes>>) -> f64 {
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(connect(TcpStream::connect(server.addr).await.unwrap()).await);
    }
    let (before, end) = (server.cpu().await, Instant::now() + TIME);
    let mut tasks = JoinSet::new();
    for mut client in clients {
        let request = request.clone();
        tasks.spawn(async move {
            let mut count = 0;
            while Instant::now() < end {
                send(&mut client, request.clone()).await;
                count += 1;
            }
            count
        });
    }
    let count: u32 = tasks.join_all().await.into_iter().sum();
    (server.cpu().await - before) * 1e6 / f64::from(count)
}

/// CPU time of a sealed collection with TLS, license and client certificate (µs).
pub(crate) async fn sealed(server: &MeasuredServer<MockService>) -> f64 {
    let credentials = server.service.credentials();
    let license = credentials.license(LicenseForm::Valid);
    let sealer = Sealer::new(server.service.seal_key());
    let body = |number| {
        let collection = Collection::generated(format!("session {number}"), 7, SystemTime::now());
        Bytes::from(sealer.seal(&collection))
    };
    let mut bodies: Vec<Bytes> = (0..COLLECTIONS).map(body).collect();
    let tls = TlsConnector::from(Arc::new(tls(credentials)));
    let mut clients = Vec::new();
    for body in bodies.split_off(COLLECTIONS - CONNECTIONS) {
        let tcp = TcpStream::connect(server.addr).await.unwrap();
        let stream = tls.connect(ServerName::try_from("localhost").unwrap(), tcp).await.unwrap();
        let mut client = connect(stream).await;
        // After the first answer the server has finished the handshake too.
        send(&mut client, collection(&license, body)).await;
        clients.push(client);
    }
    let before = server.cpu().await;
    let mut tasks = JoinSet::new();
    for (mut client, bodies) in clients.into_iter().zip(bodies.chunks(bodies.len().div_ceil(CONNECTIONS))) {
        let (license, bodies) = (license.clone(), bodies.to_vec());
        tasks.spawn(async move {
            for body in bodies {
                send(&mut client, collection(&license, body)).await;
            }
        });
    }
    tasks.join_all().await;
    (server.cpu().await - before) * 1e6 / bodies.len() as f64
}

async fn connect<S>(stream: S) -> SendRequest<Full<Bytes>>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (client, connection) = handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    client
}

fn collection(license: &str, body: Bytes) -> Request<Full<Bytes>> {
    request(Method::POST, "/v1/relay", license, Full::new(body))
}

fn request(method: Method, path: &str, token: &str, body: Full<Bytes>) -> Request<Full<Bytes>> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost")
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json");
    request.body(body).unwrap()
}

async fn send(client: &mut SendRequest<Full<Bytes>>, request: Request<Full<Bytes>>) {
    let response = client.send_request(request).await.unwrap();
    let status = response.status();
    let answer = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(status, 200, "{answer:?}");
}

fn tls(credentials: &Credentials) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(credentials.certificate(Role::ServiceAuthority).der().clone()).unwrap();
    let client = credentials.certificate(Role::ClientForLicense);
    ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(client.chain_der(), client.key_der())
        .unwrap()
}
