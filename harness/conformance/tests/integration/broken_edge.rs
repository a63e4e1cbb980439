//! A deliberately broken edge: this executable, with a fault from a variable. It forwards requests to the reference edge,
//! and changes the answers or mistreats `PUT` requests.

use std::env;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use edgeproof_edge::{Edge, EdgeOptions, LogSink};
use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::{Spec, Version};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// Variable with the fault. Without it the entry point does nothing.
const FAULT: &str = "EDGE_FAULT";
/// Variable with the address that the edge calls when a `PUT` arrives. The connection ends with the process.
const CALL: &str = "EDGE_CALL";

/// The edge relayed a refusal with status 429.
static WAS_LIMITED: AtomicBool = AtomicBool::new(false);

/// The command that launches the program with this fault.
pub(crate) fn command(fault: &str) -> String {
    command_with(fault, "")
}

/// The command with this fault, and with variables such as `NAME=value`.
pub(crate) fn command_with(fault: &str, variables: &str) -> String {
    let program = env::current_exe().unwrap().into_os_string().into_string().unwrap();
    let words = [
        &program,
        "--exact",
        "broken_edge::edge_program_of_other_tests",
        "--ignored",
        "--nocapture",
        "--quiet",
    ];
    format!("env {FAULT}={fault} {variables} {}", shell_words::join(words))
}

#[test]
#[ignore = "a program that other tests start"]
fn edge_program_of_other_tests() {
    let fault = env::var(FAULT).expect("other tests set the fault");
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(serve(&fault));
}

async fn serve(fault: &str) {
    let settings = EdgeSettings::from_env(|name| env::var(name).ok());
    if fault == "leaks" {
        // Like a program that prints its settings at startup.
        say(&format!("settings: {:?}", settings.env()));
        let key = settings.client_key_file.as_ref().map(|file| std::fs::read_to_string(file).unwrap());
        say(&format!("key: {}", key.unwrap_or_default()));
    }
    let license = settings.license.clone().map(|license| license.expose().to_owned()).unwrap_or_default();
    let license = Arc::new(license);
    let spec = Arc::new(Spec::builtin(Version::Current));
    let edge = Edge::start(EdgeOptions::new(spec, settings, LogSink::new(|line| say(&line)))).await.unwrap();
    let port = env::var("PORT").map_or(0, |port| port.parse().unwrap());
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    say(&format!("listening on {}", listener.local_addr().unwrap()));
    loop {
        let (client, _) = listener.accept().await.unwrap();
        tokio::spawn(connection(client, edge.addr(), fault.to_owned(), Arc::clone(&license)));
    }
}

/// Serves one connection. Errors only end the connection.
async fn connection(mut client: TcpStream, edge: SocketAddr, fault: String, license: Arc<String>) {
    let Some(head) = head(&mut client).await else { return };
    if head.starts_with(b"PUT ") {
        mistreat(&mut client, &fault).await;
    }
    let mut inner = TcpStream::connect(edge).await.unwrap();
    let _ = match fault.as_str() {
        "hands-on" | "as-502" | "no-allow" | "no-allow-after-429" | "leaks" => {
            rewrite(&mut client, &mut inner, &head, |answer| broken(&fault, answer, &license)).await
        }
        _ => match inner.write_all(&head).await {
            Ok(()) => copy_bidirectional(&mut client, &mut inner).await.map(drop),
            Err(why) => Err(why),
        },
    };
}

/// Reads to the end of the request's head, perhaps further.
async fn head(client: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if client.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    Some(head)
}

async fn mistreat(client: &mut TcpStream, fault: &str) {
    if let Ok(address) = env::var(CALL) {
        let mut caller = TcpStream::connect(address).await.unwrap();
        caller.write_all(b"called\n").await.unwrap();
        // Stays open until the process ends.
        std::mem::forget(caller);
    }
    let piece = "x".repeat(1000);
    match fault {
        "silent" => std::future::pending().await,
        "endless" => {
            let _ = client.write_all(b"HTTP/1.1 405 \r\nTransfer-Encoding: chunked\r\n\r\n").await;
            while client.write_all(format!("3e8\r\n{piece}\r\n").as_bytes()).await.is_ok() {}
        }
        "flood" => {
            let _ = client.write_all(b"HTTP/1.1 405 \r\n").await;
            while client.write_all(format!("X-Flood: {piece}\r\n").as_bytes()).await.is_ok() {}
        }
        "garbage" => {
            let _ = client.write_all(b"\x16\x03\x01SSH-2.0-\xff\xfe\r\n\r\n").await;
            let _ = client.shutdown().await;
        }
        "dies" => {
            say("dying of a request");
            exit(7);
        }
        _ => {}
    }
}

/// Forwards the request, and returns the changed answer.
async fn rewrite(
    client: &mut TcpStream,
    inner: &mut TcpStream,
    head: &[u8],
    change: impl Fn(String) -> String,
) -> std::io::Result<()> {
    // Then the answer ends with the connection.
    let line = head.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let head = [&head[..line], b"Connection: close\r\n", &head[line..]].concat();
    inner.write_all(&head).await?;
    let (mut from_client, mut to_client) = client.split();
    let (mut from_inner, mut to_inner) = inner.split();
    let upload = async {
        tokio::io::copy(&mut from_client, &mut to_inner).await?;
        to_inner.shutdown().await
    };
    let mut answer = Vec::new();
    let download = tokio::time::timeout(Duration::from_secs(20), from_inner.read_to_end(&mut answer));
    tokio::pin!(download);
    tokio::select! {
        done = &mut download => done.unwrap_or(Ok(0))?,
        // The upload is complete; the answer follows.
        _ = upload => download.await.unwrap_or(Ok(0))?,
    };
    to_client.write_all(change(String::from_utf8_lossy(&answer).into_owned()).as_bytes()).await?;
    to_client.shutdown().await
}

fn broken(fault: &str, answer: String, license: &str) -> String {
    let Some((head, body)) = answer.split_once("\r\n\r\n") else { return answer };
    let without = |name: &str| -> String {
        head.split("\r\n")
            .filter(|line| !line.to_lowercase().starts_with(name))
            .collect::<Vec<_>>()
            .join("\r\n")
    };
    let refusal = serde_json::from_str::<Value>(body).ok().filter(|body| body["error"] == "service_rejected");
    match (fault, refusal) {
        ("no-allow", _) => format!("{}\r\n\r\n{body}", without("allow:")),
        ("no-allow-after-429", Some(refusal)) => {
            WAS_LIMITED.fetch_or(refusal["status"] == 429, Ordering::SeqCst);
            answer
        }
        ("no-allow-after-429", None) if WAS_LIMITED.load(Ordering::SeqCst) => {
            format!("{}\r\n\r\n{body}", without("allow:"))
        }
        ("leaks", _) => format!("{head}\r\nX-License: {license}\r\n\r\n{body}"),
        // The mock service's answer to an edge.
        ("hands-on", Some(refusal)) => {
            let body = json!({"error": refusal["reason"], "reason": refusal["reason"]}).to_string();
            format!("{}\r\nContent-Length: {}\r\n\r\n{body}", without("content-length:"), body.len())
        }
        ("as-502", Some(_)) => {
            let body = json!({"error": "service_unreachable"}).to_string();
            let head = without("content-length:").replacen(
                head.split("\r\n").next().unwrap(),
                "HTTP/1.1 502 Bad Gateway",
                1,
            );
            format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        }
        _ => answer,
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "this is the edge that dies, not edgeproof")]
fn exit(code: i32) -> ! {
    std::process::exit(code)
}
