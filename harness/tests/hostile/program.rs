//! An edge that is hostile: this very executable, told by variables how. In front of the reference edge stands what
//! serves the collections that a run begins with, so that there is ground to stand on, and then changes its mind.

use std::env;
use std::io::Write as _;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use fixtures::credentials::EdgeSettings;
use fixtures::spec::{Spec, Version};
use harness::mock::edge::{Edge, EdgeOptions, LogSink};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// Says how; without it, the entry point below does nothing.
const HOSTILITY: &str = "EDGE_HOSTILITY";
/// Says whom to call, with the process id, when a `PUT` arrives. The connection ends with the program.
const CALL: &str = "EDGE_CALL";
/// Marks what the program starts.
pub(crate) const BROOD: &str = "EDGE_BROOD";

/// Collections that are served well: the one that shows whether there is ground to stand on, and the one that shows
/// whether reasons are read.
const SERVED: usize = 2;

/// Steers terminals, breaks formats, and runs where markup is not escaped.
pub(crate) const EVIL: &str = "\x1b[2J\x1b]0;owned\x07\u{9b}31m<script>alert(1)</script><img src=x onerror=alert(1)>]]>\"'&\r\n::error::owned\n::set-output name=owned::yes\n%0A::add-mask::a\u{202e}</details>\n```\n| a |";

/// Bytes that the ones without end send before they give up, should nobody close the connection: more than a run may take.
const ENDLESS: usize = 1 << 30;

/// The command that launches the program so, with words such as `NAME=value` put into its environment.
pub(crate) fn command(hostility: &str, variables: &str) -> String {
    let program = env::current_exe().unwrap().into_os_string().into_string().unwrap();
    let words = [&program, "--exact", "program::edge_program", "--ignored", "--nocapture", "--quiet"];
    format!("env {HOSTILITY}={hostility} {variables} {}", shell_words::join(words))
}

/// The same, deaf to SIGTERM.
pub(crate) fn deaf(hostility: &str, variables: &str) -> String {
    format!("sh -c 'trap \"\" TERM; exec \"$@\"' sh {}", command(hostility, variables))
}

/// The word for whom to call.
pub(crate) fn call(address: SocketAddr) -> String {
    format!("{CALL}={address}")
}

#[test]
#[ignore = "a program for other tests to start"]
fn edge_program() {
    let Ok(hostility) = env::var(HOSTILITY) else { return };
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(serve(hostility.leak()));
}

async fn serve(hostility: &'static str) {
    let settings = EdgeSettings::from_env(|name| env::var(name).ok());
    let spec = Arc::new(Spec::builtin(Version::Current));
    let edge = Edge::start(EdgeOptions::new(spec, settings, LogSink::new(|line| say(&line)))).await.unwrap();
    let port: u16 = env::var("PORT").unwrap().parse().unwrap();
    let front = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    if hostility == "fills-stdout" {
        thread::spawn(|| (0..200_000).for_each(|_| say(EVIL)));
    }
    loop {
        let (client, _) = front.accept().await.unwrap();
        tokio::spawn(connection(client, edge.addr(), hostility));
    }
}

/// One connection. How it ends is nobody's business.
async fn connection(mut client: TcpStream, edge: SocketAddr, hostility: &'static str) {
    static POSTS: AtomicUsize = AtomicUsize::new(0);
    let Some(head) = head(&mut client).await else { return };
    if head.starts_with(b"PUT ")
        && let Ok(address) = env::var(CALL)
    {
        let mut caller = TcpStream::connect(address).await.unwrap();
        caller.write_all(format!("{}\n", std::process::id()).as_bytes()).await.unwrap();
        // Open until the program ends, and no answer until then.
        std::mem::forget(caller);
        return std::future::pending().await;
    }
    let posts = POSTS.fetch_add(usize::from(head.starts_with(b"POST ")), Ordering::SeqCst);
    let served = match hostility {
        "forks" | "fills-stdout" | "calls" => true,
        "fickle" => posts < SERVED || posts % 2 == 0,
        _ => posts < SERVED,
    };
    if hostility == "forks" {
        fork();
    }
    if served {
        let mut inner = TcpStream::connect(edge).await.unwrap();
        if inner.write_all(&head).await.is_ok() {
            let _ = copy_bidirectional(&mut client, &mut inner).await;
        }
        return;
    }
    let _ = treat(&mut client, hostility).await;
    // What the client still sends is read, so that it gets to see what was sent rather than a reset.
    let _ = client.shutdown().await;
    let _ = tokio::io::copy(&mut client, &mut tokio::io::sink()).await;
}

/// What was read up to the end of the request's head, and perhaps beyond.
async fn head(client: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if client.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    Some(head)
}

async fn treat(client: &mut TcpStream, hostility: &str) -> std::io::Result<()> {
    let filler = [b'x'; 8 * 1024];
    match hostility {
        "endless-headers" => {
            client.write_all(b"HTTP/1.1 200 OK\r\n").await?;
            let field = format!("X-Flood: {}\r\n", "x".repeat(1000));
            endless(client, field.as_bytes()).await
        }
        "endless-header" => {
            client.write_all(b"HTTP/1.1 200 OK\r\nX-Flood: ").await?;
            endless(client, &filler).await
        }
        "endless-interim" => endless(client, b"HTTP/1.1 100 Continue\r\n\r\n").await,
        "endless-chunks" => {
            client.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await?;
            endless(client, b"1\r\nx\r\n").await
        }
        "endless-trailers" => {
            client.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n").await?;
            endless(client, b"X-Trailer: x\r\n").await
        }
        "gigabyte" => {
            client.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n").await?;
            endless(client, &filler).await
        }
        "announces-gigabyte" => {
            client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n").await?;
            endless(client, &filler).await
        }
        "chunk-past-2-64" => {
            let answer =
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\nffffffffffffffff\r\nx";
            client.write_all(answer).await
        }
        "drips" => {
            for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"ok\":true}".iter().cycle() {
                client.write_all(&[*byte]).await?;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            Ok(())
        }
        "mute" => std::future::pending().await,
        "garbage" => client.write_all(b"\x16\x03\x01\0\xff\xfeSSH-2.0-\x1b[2J\r\n\r\n").await,
        "invalid-utf8" => {
            let head = b"HTTP/1.1 409 \xff\xfe\r\nX-\xc3\xa9: \xff\r\nContent-Type: application/json\r\n";
            client.write_all(head).await
        }
        "invalid-utf8-body" => {
            answer(
                client,
                b"{\"error\":\"service_rejected\",\"reason\":\"\xff\xfe\xed\xa0\x80\",\"status\":409}",
            )
            .await
        }
        "deep" => answer(client, &[b"[".repeat(200_000), b"]".repeat(200_000)].concat()).await,
        "many-members" => {
            let members: Vec<String> = (0..150_000).map(|n| format!("\"{n}-member\":{n}")).collect();
            answer(client, format!("{{{}}}", members.join(",")).as_bytes()).await
        }
        // In all fields, and in the log.
        _ => {
            say(EVIL);
            let evil = serde_json::Value::from(EVIL);
            let body =
                serde_json::json!({"error": evil, "reason": evil, "status": evil, EVIL: {EVIL: [evil]}});
            answer(client, body.to_string().as_bytes()).await
        }
    }
}

/// A refusal with this body, and with markup wherever HTTP takes it.
async fn answer(client: &mut TcpStream, body: &[u8]) -> std::io::Result<()> {
    let markup = "<script>alert(1)</script>%0A::error::owned]]>";
    let head = format!(
        "HTTP/1.1 409 {markup}\r\nX-Evil: {markup}\r\nAllow: {markup}\r\nVary: {markup}\r\n\
         Access-Control-Allow-Origin: {markup}\r\nAccess-Control-Allow-Headers: {markup}\r\n\
         Content-Type: {markup}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    client.write_all(head.as_bytes()).await?;
    client.write_all(body).await
}

async fn endless(client: &mut TcpStream, piece: &[u8]) -> std::io::Result<()> {
    let many = piece.repeat((64 * 1024 / piece.len()).max(1));
    for _ in 0..ENDLESS / many.len() {
        client.write_all(&many).await?;
    }
    Ok(())
}

/// A child, and one that leaves the process group.
fn fork() {
    for words in [&["sleep", "100000"][..], &["setsid", "sleep", "100000"]] {
        let child =
            Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        // Not waited for: who started it takes no care of it.
        std::mem::forget(child.unwrap());
    }
}

fn say(line: &str) {
    // Nobody may be left to read it.
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
