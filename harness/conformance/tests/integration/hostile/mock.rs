//! Hostile clients of the mock service as a program: memory, connections and answers.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::watched::{self, MOST, high_water};
use crate::limited::{Watchdog, until};

const LIMIT: Duration = Duration::from_secs(60);
/// Clients of each kind at the same time.
const MANY: usize = 100;
/// Equal invalid requests at the same time.
const SEVERAL: usize = 25;

/// Most bytes of bodies in the journal, in MiB.
const JOURNAL: u64 = 72;

/// The mock service in its own process, killed at the end of the test.
pub(crate) struct MockProgram {
    pub(crate) child: Child,
    out: BufReader<ChildStdout>,
    ready: Value,
    folder: TempDir,
    /// All reads end with the process.
    _watchdog: Watchdog,
}

impl MockProgram {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let any = "127.0.0.1:0";
        let args =
            ["mock", "--listen", any, "--plain", any, "--edge", any, "--admin", any, "--json", "--quiet"];
        let mut command = watched::command(folder.path(), &args);
        let mut child = command.env("TMPDIR", folder.path()).spawn().unwrap();
        let watchdog = Watchdog::over(&child);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        Self { child, out, ready: serde_json::from_str(&line).unwrap(), folder, _watchdog: watchdog }
    }

    pub(crate) fn field(&self, name: &str) -> &str {
        self.ready[name].as_str().unwrap()
    }

    pub(crate) fn at(&self, name: &str) -> SocketAddr {
        self.field(name).strip_prefix("http://").unwrap().parse().unwrap()
    }

    /// A poll with the valid read token.
    fn poll(&self, path_and_query: &str) -> String {
        let token = self.field("read_token");
        format!(
            "GET /v1/verdict/{path_and_query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
        )
    }

    fn open_files(&self) -> usize {
        edgeproof_launch::open_files(self.child.id()).unwrap()
    }

    /// Stops it with a signal. It exits with 0 and leaves no files behind.
    pub(crate) fn stop(mut self, signal: Signal) {
        watched::signal(&self.child, signal);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        assert_eq!(fs::read_dir(self.folder.path()).unwrap().count(), 0, "credentials are left behind");
    }
}

impl Drop for MockProgram {
    fn drop(&mut self) {
        // Fails if it was stopped already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a request. Yields status and body of the answer, or none if the connection ends.
async fn exchange(address: SocketAddr, request: &[u8]) -> Option<(u16, Vec<u8>)> {
    let conversation = async {
        let mut stream = TcpStream::connect(address).await.ok()?;
        let (mut read, mut write) = stream.split();
        let mut answer = Vec::new();
        let mut buffer = [0; 4096];
        // The answer may arrive before the whole request is sent.
        let sending = async {
            let _ = write.write_all(request).await;
            std::future::pending::<()>().await;
        };
        let reading = async {
            while let Ok(count @ 1..) = read.read(&mut buffer).await {
                answer.extend_from_slice(&buffer[..count]);
                if whole(&answer) {
                    break;
                }
            }
        };
        tokio::select! { () = reading => {}, () = sending => {} }
        let text = String::from_utf8(answer).ok()?;
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, body.as_bytes().to_vec()))
    };
    timeout(LIMIT, conversation).await.expect("an answer, or an end")
}

/// Whether the answer has its full length.
fn whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    length.is_some_and(|length: usize| body.len() >= length)
}

/// An invalid request: name, bytes and allowed statuses. Without a status the connection ends.
type Bad = (&'static str, Vec<u8>, &'static [u16]);

/// A collection from an edge without a certificate.
fn post(mock: &MockProgram, fields: &str, body: &[u8]) -> Vec<u8> {
    let license = mock.field("license");
    let head = format!(
        "POST /v1/relay HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {license}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n{fields}\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn requests(mock: &MockProgram) -> Vec<Bad> {
    let get = |path: &str, fields: &str| {
        format!("GET /v1/verdict/{path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n").into_bytes()
    };
    let bearer = |token: String| format!("Authorization: Bearer {token}\r\n");
    vec![
        ("bearer of 100 KB", get("r", &bearer(format!("service_read_{}", "A".repeat(100_000)))), &[401]),
        ("bearer of a megabyte", get("r", &bearer("A".repeat(1_000_000))), &[431]),
        ("path of a megabyte", get(&"a".repeat(1_000_000), ""), &[414, 431]),
        ("path of dots", get(&"../".repeat(10_000), ""), &[400, 401, 404]),
        ("ten thousand fields", get("r", &"X: y\r\n".repeat(10_000)), &[431]),
        ("broken encoding", get("%zz%f%00%ff", ""), &[400, 401]),
        ("markup", get("%3Cscript%3E%1b[2J", ""), &[401]),
        (
            "bytes in the bearer",
            [&get("r", "Authorization: Bearer service_read_\u{e9}\u{1}\r\n")[..]].concat(),
            &[400, 401],
        ),
        ("no HTTP", b"\x16\x03\x01\x02\x00garbage\r\n\r\n".to_vec(), &[400]),
        (
            "two lengths",
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx".to_vec(),
            &[400],
        ),
        (
            "length and chunks",
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                .to_vec(),
            &[400, 401],
        ),
        (
            "no chunk",
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n".to_vec(),
            &[400, 401],
        ),
        (
            "compressed body",
            post(mock, "Content-Encoding: gzip\r\n", b"\x1f\x8b\x08\0\0\0\0\0\0\x03"),
            &[400, 401],
        ),
        ("deep body", post(mock, "", &b"[".repeat(900_000)), &[400, 401]),
    ]
}

/// Sends each request this many times in parallel, while others are served. Yields the peak memory in MiB.
async fn refused(mock: &MockProgram, name: &str, bad: &[Bad], times: usize) -> u64 {
    let plain = mock.at("plain");
    assert_eq!(exchange(plain, mock.poll("r").as_bytes()).await.unwrap().0, 404);
    let before = mock.open_files();
    for (name, request, statuses) in bad {
        let request: Arc<[u8]> = request.clone().into();
        let mut clients = JoinSet::new();
        for _ in 0..times {
            let request = Arc::clone(&request);
            clients.spawn(async move { exchange(plain, &request).await });
        }
        assert_eq!(exchange(plain, mock.poll("r").as_bytes()).await.unwrap().0, 404, "{name}");
        while let Some(answer) = clients.join_next().await {
            let Some((status, body)) = answer.unwrap() else { continue };
            let text = String::from_utf8_lossy(&body);
            assert!(statuses.contains(&status) && body.len() < 200, "{name}: {status} {text}");
            // Unparsable requests get no body.
            let rendered =
                body.is_empty() || serde_json::from_slice::<Value>(&body).unwrap()["error"].is_string();
            assert!(rendered, "{name}: {text}");
        }
    }
    until("all connections are closed", || mock.open_files() <= before);
    let peak = high_water(mock.child.id()).unwrap();
    watched::print(name, None, peak);
    peak
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_requests_are_refused_with_a_status() {
    let mock = MockProgram::start();
    let peak = refused(&mock, "clients with invalid requests", &requests(&mock), SEVERAL).await;
    assert!(peak < JOURNAL + MOST, "{peak} MiB");
    mock.stop(Signal::TERM);
}

/// The journal keeps at most 8 MiB of a body and 128 MiB of all bodies.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn journal_memory_is_bounded() {
    let mock = MockProgram::start();
    let large = post(&mock, "", &b"x".repeat(10_000_000));
    let peak =
        refused(&mock, "a hundred bodies of ten megabytes", &[("body", large, &[401, 413, 503])], MANY).await;
    assert!(peak < 128 + JOURNAL + MOST, "{peak} MiB");
    mock.stop(Signal::TERM);
}

/// Incomplete heads and bodies, and a thousand polls whose clients leave: half at once, half while they wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_and_leaving_clients_are_cleaned_up() {
    let mock = MockProgram::start();
    let plain = mock.at("plain");
    let poll = mock.poll("r?waitMs=30000");
    let half = &poll.as_bytes()[..poll.len() / 2];
    let before = mock.open_files();
    let mut slow = Vec::new();
    for start in [half, b"POST /v1/relay HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{"] {
        for _ in 0..MANY {
            let mut stream = TcpStream::connect(plain).await.unwrap();
            stream.write_all(start).await.unwrap();
            slow.push(stream);
        }
    }
    for _ in 0..4 {
        let mut polls = Vec::new();
        for number in 0..250 {
            let mut stream = TcpStream::connect(plain).await.unwrap();
            stream.write_all(poll.as_bytes()).await.unwrap();
            if number % 2 == 0 {
                polls.push(stream);
            }
        }
        // The waiting polls outnumber the connections of before.
        until("polls wait", || mock.open_files() >= before + slow.len() + polls.len());
        assert_eq!(exchange(plain, mock.poll("r").as_bytes()).await.unwrap().0, 404);
    }
    // Each slow client costs one connection.
    until("polls are gone", || mock.open_files() <= before + slow.len());
    drop(slow);
    until("slow clients are gone", || mock.open_files() <= before);
    let peak = high_water(mock.child.id()).unwrap();
    watched::print("slow clients, and a thousand that leave", None, peak);
    assert!(peak < MOST, "{peak} MiB");
    mock.stop(Signal::INT);
}

/// A stopping service answers waiting polls, and does not wait for incomplete requests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_answers_polls_and_drops_slow_clients() {
    let mock = MockProgram::start();
    let plain = mock.at("plain");
    let before = mock.open_files();
    let mut slow = TcpStream::connect(plain).await.unwrap();
    slow.write_all(b"POST /v1/relay HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{").await.unwrap();
    let poll = mock.poll("r?waitMs=30000");
    let polled = tokio::spawn(async move { exchange(plain, poll.as_bytes()).await });
    until("both are connected", || mock.open_files() >= before + 2);
    tokio::task::spawn_blocking(|| mock.stop(Signal::TERM)).await.unwrap();
    // The poll may arrive too late for an answer.
    assert!(polled.await.unwrap().is_none_or(|(status, _)| status == 404));
}

#[tokio::test]
async fn admin_port_refuses_foreign_pages() {
    let mock = MockProgram::start();
    let admin = mock.at("admin");
    let ask =
        |fields: &str| format!("POST /reset HTTP/1.1\r\n{fields}Content-Length: 0\r\n\r\n").into_bytes();
    for fields in [
        "Host: attacker.example\r\n",
        "Host: localhost.attacker.example\r\n",
        "Host: localhost\r\nHost: attacker.example\r\n",
        "Host: localhost\r\nOrigin: https://attacker.example\r\n",
        "Host: localhost\r\nOrigin: null\r\n",
        "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n",
    ] {
        let (status, body) = exchange(admin, &ask(fields)).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(status, 403, "{fields}");
        assert!(body["error"].as_str().unwrap().starts_with("foreign_"), "{body}");
    }
    assert_eq!(exchange(admin, &ask("Host: localhost\r\n")).await.unwrap().0, 200);
    mock.stop(Signal::TERM);
}
