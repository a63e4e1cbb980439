//! A user's connection against peers that close, cut and stall connections.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, MintOptions, Role};
use edgeproof_http::ServerAddress;
use edgeproof_load::engine::{HeaderFields, RequestTimeout, UserConnection};
use rstest::rstest;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::support::LIMIT;

/// More than the socket buffers hold, so that it cannot be sent to a peer that does not read.
const LARGE: usize = 32 * 1024 * 1024;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A step of the peer on one connection.
#[derive(Debug, Clone, Copy)]
enum PeerStep {
    /// Reads a whole request.
    Read,
    /// Reads the head of a request.
    ReadHead,
    /// Writes this text in pieces of this length (bytes).
    Write(&'static str, usize),
    /// Writes this text repeatedly until the connection is closed.
    Repeat(&'static str),
    /// Ends the stream and sends the event `closed`.
    Close,
    /// Drops the connection; over TLS without a closing alert.
    Drop,
}

/// A peer that plays its steps on consecutive connections. It sends an event for each request read and each
/// connection closed.
struct ScriptedPeer {
    connection: UserConnection,
    events: mpsc::UnboundedReceiver<&'static str>,
}

impl ScriptedPeer {
    async fn start(scheme: &str, connections: &'static [&'static [PeerStep]]) -> Self {
        let credentials = Credentials::mint(&MintOptions::default()).unwrap();
        let files = CredentialFiles::write(&credentials).unwrap();
        let acceptor = (scheme == "https").then(|| acceptor(&credentials));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let (events_tx, events) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            for steps in connections {
                let (stream, _) = listener.accept().await.unwrap();
                match &acceptor {
                    None => act(stream, steps, &events_tx).await,
                    Some(acceptor) => act(acceptor.accept(stream).await.unwrap(), steps, &events_tx).await,
                }
            }
        });
        let authority = files.certificate(Role::EdgeAuthority);
        let endpoint = ServerAddress::resolve(&url.parse().unwrap(), Some(&authority)).await.unwrap();
        Self { connection: UserConnection::new(Arc::new(endpoint)), events }
    }

    /// Sends a request and returns its result as text.
    async fn ask(&mut self, body: Bytes) -> String {
        let fields = HeaderFields::new([("Host", "peer")]).unwrap();
        self.connection.prepare(fields.post("/", &body));
        match timeout(LIMIT, self.connection.exchange(Instant::now())).await.expect("a result") {
            Ok(answer) => format!("{} {}", answer.status, String::from_utf8_lossy(&answer.body)),
            Err(failure) => format!("{failure:?}"),
        }
    }

    /// Waits for this event.
    async fn wait_for(&mut self, what: &str) {
        assert_eq!(timeout(LIMIT, self.events.recv()).await.expect("an event"), Some(what));
    }
}

fn acceptor(credentials: &Credentials) -> TlsAcceptor {
    let certificate = credentials.certificate(Role::EdgeServer);
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(certificate.chain_der(), certificate.key_der())
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

async fn act(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    steps: &[PeerStep],
    events_tx: &mpsc::UnboundedSender<&'static str>,
) {
    for step in steps {
        match step {
            PeerStep::Read | PeerStep::ReadHead => {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let Ok(byte) = stream.read_u8().await else { return };
                    head.push(byte);
                }
                let head = String::from_utf8(head).unwrap();
                let length = head.split("Content-Length: ").nth(1).unwrap().trim().parse().unwrap();
                if matches!(step, PeerStep::Read) {
                    stream.read_exact(&mut vec![0; length]).await.unwrap();
                }
                let _ = events_tx.send("request");
            }
            PeerStep::Write(text, piece) => {
                for piece in text.as_bytes().chunks(*piece) {
                    stream.write_all(piece).await.unwrap();
                    stream.flush().await.unwrap();
                    tokio::task::yield_now().await;
                }
            }
            PeerStep::Repeat(text) => {
                let many = text.repeat(64 * 1024);
                while stream.write_all(many.as_bytes()).await.is_ok() {}
                return;
            }
            PeerStep::Drop => return,
            PeerStep::Close => {
                stream.shutdown().await.unwrap();
                let _ = events_tx.send("closed");
                // Reads the rest, so that the connection ends without a reset.
                let _ = stream.read_to_end(&mut Vec::new()).await;
                return;
            }
        }
    }
    // Keeps the connection open until the other side closes it.
    let _ = stream.read_to_end(&mut Vec::new()).await;
}

#[rstest]
#[case::sized(&[PeerStep::Read, PeerStep::Write(OK, 999)], "200 ok")]
#[case::byte_by_byte(&[PeerStep::Read, PeerStep::Write(OK, 1)], "200 ok")]
#[case::chunked(
    &[PeerStep::Read, PeerStep::Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n", 7)],
    "200 ok"
)]
#[case::until_the_end(&[PeerStep::Read, PeerStep::Write("HTTP/1.1 200 OK\r\n\r\nok", 999), PeerStep::Close], "200 ok")]
#[case::interim(&[PeerStep::Read, PeerStep::Write("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", 9)], "204 ")]
#[case::before_all_is_sent(&[PeerStep::ReadHead, PeerStep::Write("HTTP/1.1 413 No\r\nContent-Length: 0\r\n\r\n", 999)], "413 ")]
#[case::cut_in_the_body(&[PeerStep::Read, PeerStep::Write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", 999), PeerStep::Close], "Closed")]
#[case::cut_in_the_head(&[PeerStep::Read, PeerStep::Write("HTTP/1.1 200", 999), PeerStep::Close], "Closed")]
#[case::no_answer(&[PeerStep::Read, PeerStep::Close], "Closed")]
#[case::never_open(&[PeerStep::Close], "Closed")]
#[case::dropped_in_the_body(&[PeerStep::Read, PeerStep::Write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", 999), PeerStep::Drop], "Closed")]
#[case::until_the_drop(&[PeerStep::Read, PeerStep::Write("HTTP/1.1 200 OK\r\n\r\nok", 999), PeerStep::Drop], "200 ok")]
#[case::interim_without_end(&[PeerStep::Read, PeerStep::Repeat("HTTP/1.1 103 Early Hints\r\n\r\n")], "NotHttp")]
#[case::not_http(&[PeerStep::Read, PeerStep::Write("SSH-2.0-OpenSSH\r\n", 999)], "NotHttp")]
#[tokio::test]
async fn answers_are_read(
    #[case] steps: &'static [PeerStep],
    #[case] expected: &str,
    #[values("http", "https")] scheme: &str,
) {
    let connections: &[&[PeerStep]] = Vec::leak(vec![steps]);
    let large = matches!(steps.first(), Some(PeerStep::ReadHead));
    let body = if large { vec![b'x'; LARGE].into() } else { Bytes::from_static(b"{}") };
    assert_eq!(ScriptedPeer::start(scheme, connections).await.ask(body).await, expected);
}

#[tokio::test]
async fn connection_is_reused() {
    let mut peer = ScriptedPeer::start(
        "http",
        &[&[PeerStep::Read, PeerStep::Write(OK, 999), PeerStep::Read, PeerStep::Write(OK, 999)]],
    )
    .await;
    for _ in 0..2 {
        assert_eq!(peer.ask("{}".into()).await, "200 ok");
        peer.wait_for("request").await;
    }
}

/// The first connection becomes unusable after its answer. The second request arrives once, over a new
/// connection.
#[rstest]
#[case::closed_while_idle(&[PeerStep::Read, PeerStep::Write(OK, 999), PeerStep::Close], true)]
#[case::connection_close(
    &[PeerStep::Read, PeerStep::Write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 999)],
    false
)]
#[case::http_1_0(&[PeerStep::Read, PeerStep::Write("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 999)], false)]
#[case::more_than_its_answer(
    &[PeerStep::Read, PeerStep::Write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 409 ", 999)],
    false
)]
#[case::timeout_answer(
    &[PeerStep::Read, PeerStep::Write(OK, 999), PeerStep::Write("HTTP/1.1 408 Request Timeout\r\n\r\n", 999), PeerStep::Close],
    true
)]
#[tokio::test]
async fn unusable_connection_is_replaced(
    #[case] first: &'static [PeerStep],
    #[case] closes: bool,
    #[values("http", "https")] scheme: &str,
) {
    let mut peer =
        ScriptedPeer::start(scheme, Vec::leak(vec![first, &[PeerStep::Read, PeerStep::Write(OK, 999)]]))
            .await;
    assert_eq!(peer.ask("{}".into()).await, "200 ok");
    peer.wait_for("request").await;
    if closes {
        peer.wait_for("closed").await;
        // Lets the runtime poll the sockets.
        tokio::task::yield_now().await;
    }
    assert_eq!(peer.ask("{}".into()).await, "200 ok");
    peer.wait_for("request").await;
    assert!(peer.events.try_recv().is_err(), "the request must arrive once");
}

#[tokio::test]
async fn sent_request_is_not_repeated() {
    let mut peer = ScriptedPeer::start(
        "http",
        &[&[PeerStep::Read, PeerStep::Write(OK, 999), PeerStep::Read, PeerStep::Close], &[PeerStep::Read]],
    )
    .await;
    assert_eq!(peer.ask("{}".into()).await, "200 ok");
    assert_eq!(peer.ask("{}".into()).await, "Closed");
    for word in ["request", "request", "closed"] {
        peer.wait_for(word).await;
    }
    assert!(peer.events.try_recv().is_err(), "no further event");
}

// The peer runs on another thread and sends small chunks faster than they can be read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_answer_times_out() {
    let mut peer = ScriptedPeer::start(
        "http",
        &[&[PeerStep::Read, PeerStep::Write("HTTP/1.1 200 OK\r\n\r\n", 999), PeerStep::Repeat("x")]],
    )
    .await;
    peer.connection.prepare(HeaderFields::new([("Host", "peer")]).unwrap().post("/", b"{}"));
    // As in a run: the timeout applies although the peer never stops.
    let mut request_timeout = RequestTimeout::new(Duration::from_millis(50));
    let ended =
        timeout(LIMIT, request_timeout.limit(Instant::now(), pin!(peer.connection.exchange(Instant::now()))))
            .await;
    assert_eq!(ended.expect("the request times out"), None);
}

#[tokio::test]
async fn given_up_exchange_closes_its_connection() {
    let mut peer = ScriptedPeer::start(
        "http",
        &[&[PeerStep::Read, PeerStep::Read], &[PeerStep::Read, PeerStep::Write(OK, 999)]],
    )
    .await;
    peer.connection.prepare(HeaderFields::new([("Host", "peer")]).unwrap().post("/", b"{}"));
    tokio::select! {
        biased;
        _ = peer.connection.exchange(Instant::now()) => panic!("the peer must not answer"),
        event = timeout(LIMIT, peer.events.recv()) => {
            event.expect("an event");
        }
    }
    assert_eq!(peer.ask("{}".into()).await, "200 ok");
}

/// The answer lies unread in the kernel until the peer has closed the connection.
#[cfg(target_os = "linux")]
#[rstest]
#[tokio::test]
async fn late_read_is_not_part_of_the_answer_time(#[values("http", "https")] scheme: &str) {
    const STEPS: &[PeerStep] = &[PeerStep::Read, PeerStep::Write(OK, 999), PeerStep::Close];
    let mut peer = ScriptedPeer::start(scheme, &[STEPS; 1000]).await;
    // The kernel notes no receive times until shortly after they are first requested.
    for _ in 0..1000 {
        peer.connection.prepare(HeaderFields::new([("Host", "peer")]).unwrap().post("/", b"{}"));
        let mut exchange = Box::pin(peer.connection.exchange(Instant::now()));
        tokio::select! {
            biased;
            event = timeout(LIMIT, peer.events.recv()) => assert_eq!(event.expect("an event"), Some("request")),
            _ = &mut exchange => panic!("the peer has not answered"),
        }
        assert_eq!(timeout(LIMIT, peer.events.recv()).await.expect("an event"), Some("closed"));
        let unread = Instant::now();
        timeout(LIMIT, exchange).await.expect("a result").unwrap();
        let times = peer.connection.times;
        assert!(times.sent < times.received && unread < times.ended, "{times:?}");
        assert_eq!(
            (times.traffic.bytes_sent > 40, times.traffic.bytes_received),
            (true, OK.len() as u64),
            "{times:?}"
        );
        assert_eq!(times.traffic.tls.is_some(), scheme == "https", "{times:?}");
        if times.received < times.ended {
            assert!(times.received <= unread && times.delay() >= times.ended - unread, "{times:?}");
            return;
        }
        peer.connection.close();
    }
    panic!("the kernel reported no receive time");
}
