//! The peers of `.ci/bench-mocks` that are Rust libraries, and its client: a single-threaded hyper server that reads the
//! body, wiremock, and a closed loop over 32 connections.
#![expect(clippy::print_stdout, reason = "the program prints its address or its measurement")]
#![expect(clippy::unwrap_used, reason = "a benchmark stops at the first error")]

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderValue, Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::handshake;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

const CONNECTIONS: usize = 32;
const ACCEPTED: &str = r#"{"ok":true}"#;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match words[..] {
        ["bare"] => runtime.block_on(bare()),
        ["wiremock"] => runtime.block_on(wiremock()),
        ["load", verb, url, requests] => runtime.block_on(load(verb, url, requests.parse().unwrap())),
        _ => println!(".ci/bench-mocks starts this program"),
    }
}

/// Reads the body of each request and answers a constant.
async fn bare() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    println!("http://{}", listener.local_addr().unwrap());
    loop {
        let (tcp, _) = listener.accept().await.unwrap();
        tcp.set_nodelay(true).unwrap();
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(tcp), service_fn(accepted)));
    }
}

async fn accepted(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, hyper::Error> {
    request.into_body().collect().await?;
    let mut response = Response::new(Full::new(Bytes::from_static(ACCEPTED.as_bytes())));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// A wiremock server with its defaults.
async fn wiremock() {
    let server = MockServer::start().await;
    let accepted = ResponseTemplate::new(200).set_body_raw(ACCEPTED, "application/json");
    Mock::given(method("POST")).respond_with(accepted).mount(&server).await;
    println!("{}", server.uri());
    std::future::pending::<()>().await;
}

/// Sends this number of requests, and prints how many were answered with 200. `READ_TOKEN` is the bearer token.
async fn load(verb: &str, url: &str, requests: u64) {
    let (verb, url) = (Method::from_bytes(verb.as_bytes()).unwrap(), url.parse::<http::Uri>().unwrap());
    let body = Bytes::from(if verb == Method::POST {
        format!("{{\"a\":\"{}\"}}", "x".repeat(1000))
    } else {
        String::new()
    });
    let token = std::env::var("READ_TOKEN").unwrap_or_else(|_| "none".to_owned());
    let (sent, accepted) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut clients = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let tcp = TcpStream::connect(url.authority().unwrap().as_str()).await.unwrap();
        tcp.set_nodelay(true).unwrap();
        let (mut client, connection) = handshake(TokioIo::new(tcp)).await.unwrap();
        tokio::spawn(connection);
        let request = Request::builder()
            .method(verb.clone())
            .uri(url.path_and_query().unwrap().as_str())
            .header(HOST, url.authority().unwrap().as_str())
            .header(CONTENT_TYPE, "application/json")
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .body(Full::new(body.clone()))
            .unwrap();
        let (sent, accepted) = (Arc::clone(&sent), Arc::clone(&accepted));
        clients.spawn(async move {
            while sent.fetch_add(1, Ordering::Relaxed) < requests {
                let response = client.send_request(request.clone()).await.unwrap();
                accepted.fetch_add((response.status() == 200).into(), Ordering::Relaxed);
                response.into_body().collect().await.unwrap();
            }
        });
    }
    clients.join_all().await;
    println!("{}", accepted.load(Ordering::Relaxed));
}
