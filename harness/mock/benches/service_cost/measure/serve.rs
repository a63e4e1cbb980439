//! The measured servers.

use std::convert::Infallible;
use std::io::{BufRead, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use edgeproof_fixtures::credentials::{LicenseForm, ReadTokenForm, Role};
use edgeproof_http::Limits;
use edgeproof_mock::{ListenerMode, Match, MockService, NewSession, Script, ServiceOptions};
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::{child, load, polls};

/// Serves in a role until the parent kills the process, on one core.
pub(crate) fn run(role: &str, folder: Option<String>) {
    child::pin_to(1);
    child::raise_file_limit();
    let folder = folder.unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        match role {
            "bare" => bare(false).await,
            "bare-polls" => bare(true).await,
            "scripted" => {
                let service = MockService::start_with(options(ListenerMode::PlainHttp)).await.unwrap();
                let _accepts = service.script(Match::Everything, Script::accept(service.spec().profile()));
                listening(service.addr());
                std::future::pending::<()>().await;
            }
            "verified" => verified(Path::new(&folder)).await,
            "polls" | "polls-of-one" => mock_polls(role == "polls-of-one", Path::new(&folder)).await,
            role => panic!("unknown role {role}"),
        }
    });
}

fn options(mode: ListenerMode) -> ServiceOptions {
    let options = ServiceOptions { mode, ..ServiceOptions::default() };
    let limits = Limits { connections: polls::COUNT * 2, ..options.limits };
    ServiceOptions { limits, ..options }
}

async fn verified(folder: &Path) {
    let service = MockService::start_with(options(ListenerMode::Tls(Role::ServiceServer))).await.unwrap();
    load::write_bodies(folder, &service);
    let credentials = service.credentials();
    std::fs::write(folder.join("license"), credentials.license(LicenseForm::Valid)).unwrap();
    let client = credentials.certificate(Role::ClientForLicense);
    std::fs::write(folder.join("chain.pem"), client.chain_pem()).unwrap();
    std::fs::write(folder.join("key.pem"), client.key_pem()).unwrap();
    std::fs::write(folder.join("ca.pem"), credentials.certificate(Role::ServiceAuthority).chain_pem())
        .unwrap();
    listening(service.addr());
    std::future::pending::<()>().await;
}

async fn mock_polls(of_one: bool, folder: &Path) {
    let service = MockService::start_with(options(ListenerMode::PlainHttp)).await.unwrap();
    let token = service.credentials().read_token(ReadTokenForm::Valid);
    std::fs::write(folder.join("token"), token).unwrap();
    listening(service.addr());
    start_signal().await;
    for number in 0..if of_one { 1 } else { polls::COUNT } {
        service.add_session(NewSession::new(polls::reference(of_one, number)));
    }
    std::future::pending::<()>().await;
}

/// Answers every request with a constant, at once or after the start signal.
async fn bare(waits: bool) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    listening(listener.local_addr().unwrap());
    let (go, going) = watch::channel(!waits);
    if waits {
        tokio::spawn(async move {
            start_signal().await;
            go.send_replace(true);
            std::future::pending::<()>().await;
        });
    }
    let body = if waits { "x".repeat(polls::BODY) } else { r#"{"ok":true}"#.to_owned() };
    let body = Bytes::from(body);
    loop {
        let (tcp, _) = listener.accept().await.unwrap();
        tcp.set_nodelay(true).unwrap();
        let (going, body) = (going.clone(), body.clone());
        let service = service_fn(move |request: Request<Incoming>| {
            let (mut going, body) = (going.clone(), body.clone());
            async move {
                request.into_body().collect().await.unwrap();
                let _ = going.wait_for(|going| *going).await;
                let mut response = Response::new(Full::new(body));
                let json = HeaderValue::from_static("application/json");
                response.headers_mut().insert("content-type", json);
                Ok::<_, Infallible>(response)
            }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(tcp), service));
    }
}

fn listening(addr: SocketAddr) {
    println!("{addr}");
    std::io::stdout().flush().unwrap();
}

/// Waits for the start signal: a line from the parent.
async fn start_signal() {
    let going = Arc::new(tokio::sync::Notify::new());
    let signal = Arc::clone(&going);
    std::thread::spawn(move || {
        std::io::stdin().lock().read_line(&mut String::new()).unwrap();
        signal.notify_one();
    });
    going.notified().await;
}
