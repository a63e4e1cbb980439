//! The client for relayed collections.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use edgeproof_fixtures::seal::{Collection, Sealer};
use edgeproof_mock::MockService;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

use super::child::Child;

/// Open connections.
pub(crate) const CONNECTIONS: usize = 32;
/// Duration of the load on a constant answer.
const TIME: Duration = Duration::from_secs(2);
/// Relayed collections, each sent once.
const COLLECTIONS: usize = 8_000;

type Client = SendRequest<Full<Bytes>>;

/// CPU time of a request without TLS (µs).
pub(crate) async fn plain(server: &Child) -> f64 {
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        let tcp = TcpStream::connect(server.addr).await.unwrap();
        tcp.set_nodelay(true).unwrap();
        clients.push(client(tcp).await);
    }
    let body = Bytes::from("{\"a\":1}".repeat(200));
    let (before, end) = (server.cpu(), Instant::now() + TIME);
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
    micros(server.cpu_since(before), count)
}

/// CPU time of a sealed collection with TLS, license and client certificate (µs).
pub(crate) async fn sealed(server: &Child) -> f64 {
    let folder = server.folder.path();
    let license = std::fs::read_to_string(folder.join("license")).unwrap();
    let bodies = std::fs::read_to_string(folder.join("bodies")).unwrap();
    let bodies: Vec<Bytes> = bodies.lines().map(|line| Bytes::copy_from_slice(line.as_bytes())).collect();
    let tls = TlsConnector::from(Arc::new(tls(folder)));
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        let tcp = TcpStream::connect(server.addr).await.unwrap();
        tcp.set_nodelay(true).unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        clients.push(client(tls.connect(name, tcp).await.unwrap()).await);
    }
    // After the first answer the server has finished the handshake too.
    let mut rest = bodies.into_iter();
    for client in &mut clients {
        post(client, &license, rest.next().unwrap()).await;
    }
    let rest: Vec<Bytes> = rest.collect();
    let (before, count) = (server.cpu(), rest.len());
    let mut tasks = JoinSet::new();
    for (mut client, bodies) in clients.into_iter().zip(rest.chunks(count.div_ceil(CONNECTIONS))) {
        let (license, bodies) = (license.clone(), bodies.to_vec());
        tasks.spawn(async move {
            for body in bodies {
                post(&mut client, &license, body).await;
            }
        });
    }
    tasks.join_all().await;
    micros(server.cpu_since(before), count as u32)
}

/// Writes collections for the client, one a line.
pub(crate) fn write_bodies(folder: &Path, service: &MockService) {
    let sealer = Sealer::new(service.seal_key());
    let mut bodies = Vec::new();
    for number in 0..COLLECTIONS {
        let collection = Collection::generated(format!("session {number}"), 7, SystemTime::now());
        bodies.extend(sealer.seal(&collection));
        bodies.push(b'\n');
    }
    std::fs::write(folder.join("bodies"), bodies).unwrap();
}

async fn client<S>(stream: S) -> Client
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
{
    let (client, connection) = handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    client
}

async fn post(client: &mut Client, license: &str, body: Bytes) {
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

fn tls(folder: &Path) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(folder.join("ca.pem")).unwrap()).unwrap();
    let chain = CertificateDer::pem_file_iter(folder.join("chain.pem")).unwrap();
    let chain = chain.collect::<Result<_, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("key.pem")).unwrap();
    ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(chain, key)
        .unwrap()
}

fn micros(cpu: Duration, count: u32) -> f64 {
    cpu.as_secs_f64() * 1e6 / f64::from(count)
}
