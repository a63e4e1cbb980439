//! Hostile clients of the mock service and the reference edge. Other clients are served, and both servers stop in time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use edgeproof::cases::Setup;
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, MintOptions, Role};
use edgeproof_fixtures::seal::Collection;
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_http::{Body, Draft, ServerAddress, send};
use edgeproof_mock::{MockService, ServiceOptions};
use edgeproof_targets::{Embedded, Target};
use rstest::rstest;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use url::Url;

const LIMIT: Duration = Duration::from_secs(30);
/// Hostile connections at the same time.
const MANY: usize = 60;

/// First bytes of a client, and the bytes that it repeats without end.
fn opening(hostility: &str) -> (Vec<u8>, &'static [u8]) {
    let post = b"POST /v1/signals HTTP/1.1\r\nHost: a\r\n".to_vec();
    match hostility {
        "mute" => (Vec::new(), b""),
        "garbage" => (b"\x16\x03\x01\x02\x00\x01\x00\xff\xfe\0\0garbage".to_vec(), b""),
        "http-to-tls" => (b"GET / HTTP/1.1\r\n\r\n".to_vec(), b""),
        "endless-header" => ([post, b"X: ".to_vec()].concat(), b"xxxxxxxxxxxxxxxx"),
        "endless-headers" => (post, b"X: xxxxxxxxxx\r\n"),
        "endless-chunks" => {
            ([post, b"Transfer-Encoding: chunked\r\n\r\n".to_vec()].concat(), b"8\r\nxxxxxxxx\r\n")
        }
        "half-a-body" => ([post, b"Content-Length: 1000000000\r\n\r\n{".to_vec()].concat(), b""),
        "pipelines" => (Vec::new(), b"GET /v1/signals HTTP/1.1\r\nHost: a\r\n\r\n"),
        other => panic!("no such hostility: {other}"),
    }
}

#[rstest]
#[case(&["mute"])]
#[case(&["garbage"])]
#[case(&["http-to-tls"])]
#[case(&["endless-header"])]
#[case(&["endless-headers"])]
#[case(&["pipelines"])]
// The edge waits for both when it stops.
#[case(&["endless-chunks", "half-a-body"])]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_clients_are_served_meanwhile(#[case] hostilities: &[&'static str]) {
    let spec = Arc::new(Spec::builtin(Version::Current));
    let credentials = Arc::new(Credentials::mint(&MintOptions::default()).unwrap());
    let files = CredentialFiles::write(&credentials).unwrap();
    let service = MockService::start_with(ServiceOptions::new(Arc::clone(&spec), Arc::clone(&credentials)))
        .await
        .unwrap();
    let sealed = Collection::generated("a session", 7, SystemTime::now()).seal(&service.seal_key());
    let settings = Setup::Standard.settings(&credentials, &files, &service.url()).unwrap();
    let target = Target::Embedded(Box::new(Embedded::new(Arc::clone(&spec), spec.profile().clone())));
    let edge = target.start(&settings).await.unwrap();
    let service_url = Url::parse(&service.url()).unwrap();
    let authority = files.certificate(Role::ServiceAuthority);
    let to_service = ServerAddress::resolve(&service_url, Some(&authority)).await.unwrap();

    let mut clients = JoinSet::new();
    for address in [edge.addr(), to_service.addresses()[0]] {
        for hostility in hostilities.iter().cycle().take(MANY / 2) {
            clients.spawn(client(address, hostility));
        }
    }
    let draft = Draft::new("POST", "/v1/signals").body(Body::Sized(sealed.into()));
    // The edge has a license. The service refuses other clients.
    for (endpoint, status) in [(edge.endpoint(), 200), (&to_service, 401)] {
        let reply = send(endpoint, &draft, LIMIT).await.reply.unwrap();
        assert_eq!(reply.status, status, "{}", String::from_utf8_lossy(&reply.body));
    }
    // Endless clients continue meanwhile.
    timeout(LIMIT, edge.stop()).await.unwrap();
    timeout(LIMIT, service.stop()).await.unwrap();
    // They end because the servers are gone.
    timeout(LIMIT, async { while clients.join_next().await.is_some() {} }).await.unwrap();
}

/// The server chooses how the connection ends.
async fn client(address: SocketAddr, hostility: &'static str) {
    let Ok(mut stream) = TcpStream::connect(address).await else { return };
    let (first, endless) = opening(hostility);
    if stream.write_all(&first).await.is_err() {
        return;
    }
    let (mut read, mut write) = stream.split();
    let drain = async { drop(tokio::io::copy(&mut read, &mut tokio::io::sink()).await) };
    let flood = async {
        let many = endless.repeat(1000);
        while !many.is_empty() && write.write_all(&many).await.is_ok() {
            // Sixty clients without a pause would test the machine.
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        if many.is_empty() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! { () = drain => {}, () = flood => {} }
}
