//! The peers of `just bench-load`: a plain hyper server, and a bare hyper client loop that sends the
//! generator's requests and fills a histogram. `.ci/bench-load` starts them.
#![expect(clippy::print_stdout, reason = "the program prints its figures")]
#![expect(clippy::unwrap_used, reason = "a benchmark stops at the first error")]

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use edgeproof_load::measure::Histogram;
use edgeproof_load::scenario::OpaqueCollections;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderValue, Method, Request, Response, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};

/// Connections of the bare loop.
const CONNECTIONS: usize = 32;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match words[..] {
        ["serve"] => runtime.block_on(serve()),
        ["bare", method, authority, seconds, ref rate @ ..] => {
            let time = Duration::from_secs(seconds.parse().unwrap());
            let rate = rate.first().map(|rate| rate.parse().unwrap());
            runtime.block_on(bare(method == "post", authority, time, rate));
        }
        _ => println!("`just bench-load` starts this program"),
    }
}

/// Accepts every collection and returns every verdict, after `waitMs`.
async fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let _ = stream.set_nodelay(true);
        tokio::spawn(async move {
            let served = hyper::server::conn::http1::Builder::new()
                .max_buf_size(16 * 1024)
                .serve_connection(TokioIo::new(stream), service_fn(answer));
            // The client reports connection errors.
            let _ = served.await;
        });
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let wait = request.uri().query().and_then(|query| query.strip_prefix("waitMs=")?.parse().ok());
    let body: &[u8] =
        if request.method() == Method::POST { br#"{"ok":true}"# } else { br#"{"decision":"allow"}"# };
    let _ = request.into_body().collect().await;
    if let Some(ms) = wait {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
    let mut response = Response::new(Full::new(Bytes::from_static(body)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// Sends requests for this time, as many as possible or `rate` per second, and prints their number.
async fn bare(post: bool, authority: &str, time: Duration, rate: Option<f64>) {
    let start = Instant::now();
    let end = start + time;
    let histogram = Arc::new(Mutex::new(Histogram::default()));
    let number = Arc::new(AtomicU64::new(0));
    let collections = OpaqueCollections::new(1);
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        let stream = TcpStream::connect(authority).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let (histogram, number) = (Arc::clone(&histogram), Arc::clone(&number));
        let (collections, authority) = (collections.clone(), authority.to_owned());
        connections.push(tokio::spawn(async move {
            while Instant::now() < end {
                let number = number.fetch_add(1, Ordering::Relaxed);
                let mut began = Instant::now();
                if let Some(rate) = rate {
                    began = start + Duration::from_secs_f64(number as f64 / rate);
                    tokio::time::sleep_until(began.into()).await;
                }
                let mut response =
                    sender.send_request(request(post, &collections, number, &authority)).await.unwrap();
                while let Some(frame) = response.frame().await {
                    frame.unwrap();
                }
                histogram.lock().record(began.elapsed());
            }
        }));
    }
    for connection in connections {
        connection.await.unwrap();
    }
    println!("{}", histogram.lock().count());
}

fn request(
    post: bool,
    collections: &OpaqueCollections,
    number: u64,
    authority: &str,
) -> Request<Full<Bytes>> {
    let host = HeaderValue::from_str(authority).unwrap();
    if !post {
        let mut request = Request::new(Full::new(Bytes::new()));
        *request.uri_mut() = format!("/v1/verdict/{}", collections.reference(number)).parse().unwrap();
        request.headers_mut().insert(HOST, host);
        request.headers_mut().insert(AUTHORIZATION, HeaderValue::from_static("Bearer x"));
        return request;
    }
    let mut request = Request::new(Full::new(collections.make(number).body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = Uri::from_static("/v1/signals");
    request.headers_mut().insert(HOST, host);
    request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request.headers_mut().insert(ORIGIN, HeaderValue::from_static("https://shop.example"));
    request
}
