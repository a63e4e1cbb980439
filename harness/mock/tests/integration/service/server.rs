//! The HTTP server under the mock service and the reference edge.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_http::{Limits, ListenerProtocol, Peer, Server};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::support::{converse, within};

async fn start<H, F>(handler: H) -> Server
where
    H: Fn(Request<Incoming>, Arc<Peer>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<Full<Bytes>>, Infallible>> + Send + 'static,
{
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    Server::start(listener, ListenerProtocol::Plain, Limits::default(), handler).unwrap()
}

fn status(status: u16, body: &str) -> Response<Full<Bytes>> {
    Response::builder().status(status).body(Full::new(Bytes::copy_from_slice(body.as_bytes()))).unwrap()
}

#[tokio::test]
async fn client_that_closes_its_half_within_the_body_gets_an_answer() {
    let server = start(async |request: Request<Incoming>, _| {
        let read = request.into_body().collect().await;
        Ok(if read.is_ok() { status(200, "read") } else { status(400, "not read") })
    })
    .await;
    let mut tcp = TcpStream::connect(server.addr()).await.unwrap();
    tcp.write_all(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nshort").await.unwrap();
    tcp.shutdown().await.unwrap();
    let mut answer = String::new();
    within(tcp.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.ends_with("not read"), "{answer}");
}

#[tokio::test]
async fn output_is_cut_after_the_given_bytes() {
    let server = start(async |_, peer: Arc<Peer>| {
        peer.control.cut_after(20);
        Ok(status(200, "much more than twenty bytes"))
    })
    .await;
    let mut tcp = TcpStream::connect(server.addr()).await.unwrap();
    let (read, ended) = converse(&mut tcp, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
    ended.unwrap();
    assert_eq!(read, b"HTTP/1.1 200 OK\r\ncon");
}

#[tokio::test]
async fn upgraded_stream_ends_with_its_task_or_the_server() {
    let server = start(async |mut request: Request<Incoming>, peer: Arc<Peer>| {
        let upgrade = hyper::upgrade::on(&mut request);
        peer.spawn(async move {
            let mut stream = TokioIo::new(upgrade.await.unwrap());
            let mut buffer = [0; 5];
            while stream.read_exact(&mut buffer).await.is_ok() {
                stream.write_all(&buffer).await.unwrap();
            }
        });
        let mut response = status(101, "");
        response.headers_mut().insert("upgrade", "echo".parse().unwrap());
        response.headers_mut().insert("connection", "upgrade".parse().unwrap());
        Ok(response)
    })
    .await;
    let mut tcp = TcpStream::connect(server.addr()).await.unwrap();
    tcp.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n")
        .await
        .unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(within(tcp.read_u8()).await.unwrap());
    }
    for word in [b"hello", b"again"] {
        tcp.write_all(word).await.unwrap();
        let mut echo = [0; 5];
        within(tcp.read_exact(&mut echo)).await.unwrap();
        assert_eq!(&echo, word);
    }
    // The stop closes it after the grace period.
    server.stop(Duration::from_millis(1)).await;
    let mut rest = Vec::new();
    let _ = within(tcp.read_to_end(&mut rest)).await;
}

#[tokio::test]
async fn panicking_handler_ends_only_its_connection() {
    let server = start(async |request: Request<Incoming>, _| {
        assert!(request.uri().path() != "/panic", "on purpose");
        Ok(status(200, "fine"))
    })
    .await;
    let mut tcp = TcpStream::connect(server.addr()).await.unwrap();
    assert_eq!(converse(&mut tcp, b"GET /panic HTTP/1.1\r\nhost: x\r\n\r\n").await.0, b"");
    let mut tcp = TcpStream::connect(server.addr()).await.unwrap();
    let (read, _) = converse(&mut tcp, b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    assert!(read.ends_with(b"fine"));
}
