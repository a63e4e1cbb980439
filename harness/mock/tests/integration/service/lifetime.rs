//! Start, stop, and hostile clients.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use edgeproof_fixtures::spec::Version;
use edgeproof_mock::{Listen, Match, MockService, Reply, Script, ServiceOptions, When};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::support::{Bench, LONG, answer, answered, converse, http1, within};

/// Waits for what no event announces.
async fn soon(is_so: impl Fn() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    within(wait).await;
}

/// Waits until nobody listens at the address.
async fn refused(addr: SocketAddr) {
    let wait = async {
        while TcpStream::connect(addr).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    within(wait).await;
}

#[tokio::test]
async fn port_in_use_is_an_error_with_the_address() {
    let bench = Bench::start().await;
    let addr = bench.service.addr();
    let options = ServiceOptions { listener: Listen::At(addr), ..ServiceOptions::default() };
    let error = MockService::start_with(options).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    assert!(error.to_string().starts_with(&format!("cannot listen on {addr}: ")), "{error}");
}

#[tokio::test]
async fn stop_waits_for_requests_in_flight_and_frees_the_port() {
    let bench = Bench::start().await;
    let addr = bench.service.addr();
    let mut idle = http1(bench.connect("http/1.1").await).await;
    assert_eq!(answered(idle.send_request(bench.request(bench.sealed("r")))).await.0, 200);
    let again = bench.request("{}");
    let mut stream = bench.connect("http/1.1").await;
    stream.write_all(b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{").await.unwrap();
    soon(|| bench.service.mark() == 2).await;
    let ((), answer) = tokio::join!(bench.service.stop(), async {
        refused(addr).await;
        converse(&mut stream, b"}").await
    });
    assert!(answer.0.starts_with(b"HTTP/1.1 401 ") && answer.1.is_ok());
    within(idle.send_request(again)).await.expect_err("an idle connection ends with the service");
    let options = ServiceOptions { listener: Listen::At(addr), ..ServiceOptions::default() };
    MockService::start_with(options).await.unwrap().stop().await;
}

#[tokio::test]
async fn drop_closes_connections_and_listener() {
    let bench = Bench::start().await;
    let addr = bench.service.addr();
    let held = Reply { delay: LONG * 100, when: When::AfterBody, action: answer(200, "held") };
    let scripted = bench.service.script(Match::Everything, Script { replies: vec![held] });
    let mut client = http1(bench.connect("http/1.1").await).await;
    let sent = tokio::spawn(client.send_request(bench.request("{}")));
    soon(|| scripted.count() == 1).await;
    drop(bench);
    assert!(within(sent).await.unwrap().is_err());
    assert!(scripted.wait_for(1, LONG).await[0].finished);
    // The listener closes in the background, too.
    refused(addr).await;
}

#[tokio::test]
async fn closed_connections_do_not_affect_new_ones() {
    let bench = Bench::start().await;
    let mut client = http1(bench.connect("http/1.1").await).await;
    assert_eq!(answered(client.send_request(bench.request(bench.sealed("r")))).await.0, 200);
    bench.service.close_connections().await;
    within(client.send_request(bench.request("{}"))).await.expect_err("the connection was ended");
    assert_eq!(bench.post(bench.sealed("r")).await.0, 200);
}

#[tokio::test]
async fn header_flood_ends_only_its_connection() {
    let bench = Bench::start().await;
    let mut flood = bench.connect("http/1.1").await;
    let field = format!("x-flood: {}\r\n", "f".repeat(1000));
    let mut written = flood.write_all(b"POST / HTTP/1.1\r\nhost: localhost\r\n").await;
    for _ in 0..1000 {
        if written.is_err() {
            break;
        }
        written = flood.write_all(field.as_bytes()).await;
    }
    let mut read = Vec::new();
    let _ = within(flood.read_to_end(&mut read)).await;
    assert!(read.is_empty() || read.starts_with(b"HTTP/1.1 431 "), "{}", String::from_utf8_lossy(&read));
    assert_eq!(bench.service.journal().len(), 0);
    assert_eq!(bench.post(bench.sealed("r")).await.0, 200);
}

#[tokio::test]
async fn unfinished_head_ends_only_its_connection() {
    let head = Duration::from_millis(100);
    let bench = Bench::with(Version::Current, |options| options.limits.head = head).await;
    let mut slow = bench.connect("http/1.1").await;
    let (_, answers) =
        tokio::join!(converse(&mut slow, b"POST / HTTP/1.1\r\nhost: loc"), bench.post(bench.sealed("r")));
    assert_eq!(answers.0, 200);
    assert_eq!(bench.service.journal().len(), 1);
}

#[tokio::test]
async fn unfinished_handshake_ends_only_its_connection() {
    let handshake = Duration::from_millis(100);
    let bench = Bench::with(Version::Current, |options| options.limits.handshake = handshake).await;
    let mut slow = TcpStream::connect(bench.service.addr()).await.unwrap();
    let (read, _) = converse(&mut slow, b"\x16\x03\x01").await;
    assert_eq!(read, b"");
    assert_eq!(bench.post(bench.sealed("r")).await.0, 200);
}

#[tokio::test]
async fn connections_beyond_the_limit_wait() {
    let bench = Bench::with(Version::Current, |options| options.limits.connections = 1).await;
    let first = bench.connect("http/1.1").await;
    let (second, ()) = tokio::join!(bench.post(bench.sealed("r")), async {
        // The handshake is over, so the first connection is accepted.
        assert_eq!(bench.service.connections_accepted(), 1);
        drop(first);
    });
    assert_eq!(second.0, 200);
}
