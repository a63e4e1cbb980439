//! Hostile clients before the mock service as a program, with what it takes of memory and connections.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::watched::{self, MOST, high_water, until};

const LIMIT: Duration = Duration::from_secs(60);
/// Clients of each kind at the same time.
const MANY: usize = 100;

/// What the journal keeps of bodies that have arrived, in MiB.
const JOURNAL: u64 = 72;

/// The program; ended with the test, whatever becomes of it.
pub(crate) struct MockProgram {
    pub(crate) child: Child,
    out: BufReader<ChildStdout>,
    ready: Value,
    folder: TempDir,
}

impl MockProgram {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let any = "127.0.0.1:0";
        let args =
            ["mock", "--listen", any, "--plain", any, "--edge", any, "--admin", any, "--json", "--quiet"];
        let mut command = watched::command(folder.path(), &args);
        let mut child = command.env("TMPDIR", folder.path()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        Self { child, out, ready: serde_json::from_str(&line).unwrap(), folder }
    }

    pub(crate) fn says(&self, name: &str) -> &str {
        self.ready[name].as_str().unwrap()
    }

    pub(crate) fn at(&self, name: &str) -> SocketAddr {
        self.says(name).strip_prefix("http://").unwrap().parse().unwrap()
    }

    /// A poll with the valid read token.
    fn poll(&self, path_and_query: &str) -> String {
        let token = self.says("read_token");
        format!(
            "GET /v1/verdict/{path_and_query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
        )
    }

    fn open_files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// Sends it a signal; it ends as if that were its usual end, and leaves nothing behind.
    pub(crate) fn end(mut self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        assert_eq!(fs::read_dir(self.folder.path()).unwrap().count(), 0, "credentials are left behind");
    }
}

impl Drop for MockProgram {
    fn drop(&mut self) {
        // Where it has ended already, there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes this, and reads to the end of the answer: its status and body. None where the connection ends instead.
async fn converse(address: SocketAddr, request: &[u8]) -> Option<(u16, Vec<u8>)> {
    let conversation = async {
        let mut stream = TcpStream::connect(address).await.ok()?;
        let (mut read, mut write) = stream.split();
        let mut answer = Vec::new();
        let mut buffer = [0; 4096];
        // An answer may come before all was sent, and the rest be refused.
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

/// All of the answer is there, as its length says.
fn whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    length.is_some_and(|length: usize| body.len() >= length)
}

/// A request that nobody should send: what it is called, its bytes, and the statuses that it may get; without one of them the
/// connection just ends.
type Bad = (&'static str, Vec<u8>, &'static [u16]);

/// A collection from an edge without a certificate.
fn post(mock: &MockProgram, fields: &str, body: &[u8]) -> Vec<u8> {
    let license = mock.says("license");
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

/// Each kind a hundred times at once; others are served meanwhile, and nothing of it stays. The most memory in MiB.
async fn refused(mock: &MockProgram, name: &str, bad: &[Bad]) -> u64 {
    let plain = mock.at("plain");
    assert_eq!(converse(plain, mock.poll("r").as_bytes()).await.unwrap().0, 404);
    let before = mock.open_files();
    for (name, request, statuses) in bad {
        let request: Arc<[u8]> = request.clone().into();
        let mut clients = JoinSet::new();
        for _ in 0..MANY {
            let request = Arc::clone(&request);
            clients.spawn(async move { converse(plain, &request).await });
        }
        assert_eq!(converse(plain, mock.poll("r").as_bytes()).await.unwrap().0, 404, "{name}");
        while let Some(answer) = clients.join_next().await {
            let Some((status, body)) = answer.unwrap() else { continue };
            let text = String::from_utf8_lossy(&body);
            assert!(statuses.contains(&status) && body.len() < 200, "{name}: {status} {text}");
            // What cannot be read as HTTP is refused without a word.
            let told =
                body.is_empty() || serde_json::from_slice::<Value>(&body).unwrap()["error"].is_string();
            assert!(told, "{name}: {text}");
        }
    }
    until("all connections are closed", || mock.open_files() <= before);
    let peak = high_water(mock.child.id()).unwrap();
    watched::tell(name, None, peak);
    peak
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_should_send_is_refused_clearly() {
    let mock = MockProgram::start();
    let peak = refused(&mock, "clients that send what nobody should", &requests(&mock)).await;
    assert!(peak < JOURNAL + MOST, "{peak} MiB");
    mock.end(Signal::TERM);
}

/// The journal keeps 8 MiB of a body, and takes no more once 128 MiB arrive at a time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gigabyte_of_bodies_at_a_time_is_not_kept() {
    let mock = MockProgram::start();
    let large = post(&mock, "", &b"x".repeat(10_000_000));
    let peak =
        refused(&mock, "a hundred bodies of ten megabytes", &[("body", large, &[401, 413, 503])]).await;
    assert!(peak < 128 + JOURNAL + MOST, "{peak} MiB");
    mock.end(Signal::TERM);
}

/// Heads and bodies that do not come to their end, and a thousand polls whose clients leave: half of them as soon as they
/// have asked, the others while they wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_are_slow_or_leave_cost_nothing() {
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
        // Those that wait are more than those that were left open before.
        until("polls wait", || mock.open_files() >= before + slow.len() + polls.len());
        assert_eq!(converse(plain, mock.poll("r").as_bytes()).await.unwrap().0, 404);
    }
    // The slow ones cost a connection each, and no more.
    until("polls are gone", || mock.open_files() <= before + slow.len());
    drop(slow);
    until("slow clients are gone", || mock.open_files() <= before);
    let peak = high_water(mock.child.id()).unwrap();
    watched::tell("slow clients, and a thousand that leave", None, peak);
    assert!(peak < MOST, "{peak} MiB");
    mock.end(Signal::INT);
}

/// Who waits for a verdict is answered when the service ends, and who does not come to an end is not waited for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_end_waits_for_nobody() {
    let mock = MockProgram::start();
    let plain = mock.at("plain");
    let before = mock.open_files();
    let mut slow = TcpStream::connect(plain).await.unwrap();
    slow.write_all(b"POST /v1/relay HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{").await.unwrap();
    let poll = mock.poll("r?waitMs=30000");
    let polled = tokio::spawn(async move { converse(plain, poll.as_bytes()).await });
    until("both are connected", || mock.open_files() >= before + 2);
    tokio::task::spawn_blocking(|| mock.end(Signal::TERM)).await.unwrap();
    // It may have come too late to be waited for.
    assert!(polled.await.unwrap().is_none_or(|(status, _)| status == 404));
}

/// The admin port, as pages from elsewhere would have it.
#[tokio::test]
async fn the_admin_port_is_for_this_machine_only() {
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
        let (status, body) = converse(admin, &ask(fields)).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(status, 403, "{fields}");
        assert!(body["error"].as_str().unwrap().starts_with("foreign_"), "{body}");
    }
    assert_eq!(converse(admin, &ask("Host: localhost\r\n")).await.unwrap().0, 200);
    mock.end(Signal::TERM);
}
