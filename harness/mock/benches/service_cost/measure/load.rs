//! The client for relayed collections.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use edgeproof_fixtures::credentials::{Credentials, LicenseForm, Role};
use edgeproof_fixtures::seal::{Collection, Sealer};
use edgeproof_mock::MockService;
use http::Request;
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

/// CPU time of a request without TLS (µs).
pub(crate) async fn plain<S: Send + 'static>(server: &MeasuredServer<S>) -> f64 {
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(connect(TcpStream::connect(server.addr).await.unwrap()).await);
    }
    let body = Bytes::from("{\"a\":1}".repeat(200));
    let (before, end) = (server.cpu().await, Instant::now() + TIME);
    let mut tasks = JoinSet::new();
    for mut client in clients {
        let body = body.clone();
        tasks.spawn(async move {
            let mut count = 0;
            while Instant::now() < end {
                post(&mut client, "none", body.clone()).await;
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
        post(&mut client, &license, body).await;
        clients.push(client);
    }
    let before = server.cpu().await;
    let mut tasks = JoinSet::new();
    for (mut client, bodies) in clients.into_iter().zip(bodies.chunks(bodies.len().div_ceil(CONNECTIONS))) {
        let (license, bodies) = (license.clone(), bodies.to_vec());
        tasks.spawn(async move {
            for body in bodies {
                post(&mut client, &license, body).await;
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

async fn post(client: &mut SendRequest<Full<Bytes>>, license: &str, body: Bytes) {
    let request = Request::post("/v1/relay")
        .header("host", "localhost")
        .header("authorization", format!("Bearer {license}"))
        .header("content-type", "application/json")
        .body(Full::new(body))
        .unwrap();
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
