//! A hostile service behind the reference edge, which runs as a program.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout};
use std::time::Duration;

use edgeproof_http::{Answer, Body, Draft, ServerAddress, send};
use rstest::rstest;
use rustix::process::Signal;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::hostile_proxy::HostileProxy;
use super::hostility::head;
use super::watched::{self, MOST, high_water};
use crate::limited::Watchdog;

const LIMIT: Duration = Duration::from_secs(60);
/// Relay timeouts of the edge (ms): short for silent services, long for the others.
const IMPATIENT: &str = "1000";
const PATIENT: &str = "60000";
/// Number of parallel collections.
const MANY: usize = 8;

/// Shortest log line of the edge, in bytes.
const SHORTEST_LINE: usize = 20;

const UNREACHABLE: (u16, &str) = (502, r#"{"error":"service_unreachable"}"#);
const ACCEPTED: (u16, &str) = (200, r#"{"ok":true}"#);
const REFUSED: (u16, &str) = (409, r#"{"error":"service_rejected","reason":"unknown","status":409}"#);

/// The edge in its own process, killed at the end of the test.
struct EdgeProgram {
    child: Child,
    out: BufReader<ChildStdout>,
    endpoint: ServerAddress,
    /// All reads end with the process.
    _watchdog: Watchdog,
}

impl EdgeProgram {
    async fn start(service: &str, timeout_ms: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let profile = folder.path().join("profile.toml");
        fs::write(&profile, format!("relay.timeout-ms = {timeout_ms}\n")).unwrap();
        let args = ["edge", "--listen", "127.0.0.1:0", "--profile", profile.to_str().unwrap()];
        let mut command = watched::command(folder.path(), &args);
        for name in ["SERVICE_CA_FILE", "EDGE_CLIENT_CERT_FILE", "EDGE_CLIENT_KEY_FILE"] {
            command.env_remove(name);
        }
        command.env("SERVICE_URL", service).env("LICENSE", "a-license");
        let mut child = command.env("ALLOWED_ORIGIN", "https://shop.example").spawn().unwrap();
        let watchdog = Watchdog::over(&child);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("edge listening on ").unwrap().parse().unwrap();
        let endpoint = ServerAddress::resolve(&url, None).await.unwrap();
        Self { child, out, endpoint, _watchdog: watchdog }
    }

    async fn post(&self) -> Answer {
        let body = Body::Sized(r#"{"v":1}"#.into());
        let draft = Draft::new("POST", "/v1/signals").header("content-type", "application/json").body(body);
        send(&self.endpoint, &draft, LIMIT).await.reply.unwrap()
    }

    /// Stops it with SIGTERM. Yields its log.
    fn stop(mut self) -> String {
        watched::signal(&self.child, Signal::TERM);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        let mut log = String::new();
        self.out.read_to_string(&mut log).unwrap();
        log
    }
}

impl Drop for EdgeProgram {
    fn drop(&mut self) {
        // Fails if it was stopped already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[rstest]
#[case("endless-headers", UNREACHABLE)]
#[case("endless-header", UNREACHABLE)]
#[case("endless-interim", UNREACHABLE)]
#[case("drips", UNREACHABLE)]
#[case("mute", UNREACHABLE)]
#[case("deaf-mute", UNREACHABLE)]
#[case("garbage", UNREACHABLE)]
#[case("invalid-utf8", UNREACHABLE)]
// Only the status matters.
#[case("endless-chunks", ACCEPTED)]
#[case("endless-trailers", ACCEPTED)]
#[case("gigabyte", ACCEPTED)]
#[case("announces-gigabyte", ACCEPTED)]
#[case("chunk-past-2-64", ACCEPTED)]
#[case("endless-refusal", REFUSED)]
#[case("invalid-utf8-body", REFUSED)]
#[case("deep", REFUSED)]
#[case("many-members", REFUSED)]
#[case("markup", REFUSED)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edge_answers_by_the_interface(#[case] hostility: &'static str, #[case] (status, body): (u16, &str)) {
    let service = HostileProxy::start(([127, 0, 0, 1], 9).into(), 0, hostility).await;
    let timeout_ms = if status == UNREACHABLE.0 { IMPATIENT } else { PATIENT };
    let edge = EdgeProgram::start(service.url().as_str(), timeout_ms).await;
    let answers = futures_util::future::join_all((0..MANY).map(|_| edge.post())).await;
    for answer in answers {
        assert_eq!((answer.status, String::from_utf8_lossy(&answer.body).as_ref()), (status, body));
        let evil =
            answer.headers.values().any(|value| value.as_bytes().windows(6).any(|part| part == b"script"));
        assert!(!evil, "{:?}", answer.headers);
    }
    assert!(service.mistreated() >= MANY);
    if !hostility.contains("mute") && status != ACCEPTED.0 {
        // The edge closes connections whose answer it refused. After an acceptance it reads on until its timeout.
        timeout(LIMIT, service.all_closed()).await.unwrap();
    }
    let healthy = send(&edge.endpoint, &Draft::new("GET", "/health"), LIMIT).await.reply.unwrap();
    assert_eq!(healthy.status, 200);
    let peak = high_water(edge.child.id()).unwrap();
    watched::print(&format!("service {hostility} behind the edge"), None, peak);
    assert!(peak < MOST, "{peak} MiB");
    let log = edge.stop();
    assert!(!log.contains(|c: char| c.is_control() && c != '\n') && !log.contains("alert"), "{log}");
}

/// The service closes the connection after each byte of its answer. The edge never accepts a part.
#[tokio::test]
async fn truncated_service_answer_is_never_accepted() {
    let body = r#"{"error":"revoked","reason":"revoked"}"#;
    let start = format!("HTTP/1.1 401 Unauthorized\r\nContent-Length: {}\r\n\r\n", body.len());
    let whole = format!("{start}{body}");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let edge = EdgeProgram::start(&format!("http://{}", listener.local_addr().unwrap()), PATIENT).await;
    for at in 0..=whole.len() {
        let serve = async {
            let (mut client, _) = listener.accept().await.unwrap();
            head(&mut client).await.unwrap();
            client.write_all(&whole.as_bytes()[..at]).await.unwrap();
            client.shutdown().await.unwrap();
            // Reads the rest of the request, to close without a reset.
            let _ = tokio::io::copy(&mut client, &mut tokio::io::sink()).await;
        };
        let (answer, ()) = tokio::join!(edge.post(), serve);
        let reason = match at {
            _ if at < start.len() => None,
            _ if at < whole.len() => Some("unknown"),
            _ => Some("revoked"),
        };
        let expected = match reason {
            None => (UNREACHABLE.0, UNREACHABLE.1.to_owned()),
            Some(reason) => {
                (401, format!(r#"{{"error":"service_rejected","reason":"{reason}","status":401}}"#))
            }
        };
        assert_eq!((answer.status, String::from_utf8_lossy(&answer.body).into_owned()), expected, "{at}");
    }
    edge.stop();
}

/// The log pipe is full after a few lines.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_log_pipe_does_not_block_the_edge() {
    let service = HostileProxy::start(([127, 0, 0, 1], 9).into(), 0, "markup").await;
    let edge = EdgeProgram::start(service.url().as_str(), PATIENT).await;
    let size = rustix::pipe::fcntl_setpipe_size(edge.out.get_ref(), 4096).unwrap();
    for _ in 0..=(size / MANY / SHORTEST_LINE) {
        let answers = futures_util::future::join_all((0..MANY).map(|_| edge.post())).await;
        let others: Vec<_> = answers.iter().filter(|answer| answer.status != REFUSED.0).collect();
        assert!(others.is_empty(), "{others:?}");
    }
    let log = edge.stop();
    // All lines have the same length: a dropped line would not have fitted.
    let line = log.lines().next().unwrap().len() + 1;
    assert!(line >= SHORTEST_LINE && log.len() >= size - line, "{} of {size} bytes, {line} each", log.len());
}
