//! The client of concurrent long polls.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::child::Child;

/// Concurrent polls.
pub(crate) const COUNT: usize = 5_000;
/// Size of the bare server's answer (bytes), equal to a verdict's.
pub(crate) const BODY: usize = 450;

/// Cost of the polls.
pub(crate) struct Polls {
    /// Memory of the server for each poll (bytes).
    pub(crate) bytes_each: f64,
    /// Time from the start signal to the last answer (s).
    pub(crate) seconds: f64,
}

/// Session reference of a poll.
pub(crate) fn reference(of_one: bool, number: usize) -> String {
    format!("session-{}", if of_one { 0 } else { number })
}

pub(crate) async fn measure(role: &str) -> Polls {
    let mut server = Child::start(role);
    let token = std::fs::read_to_string(server.folder.path().join("token")).unwrap_or_default();
    let before = server.memory();
    let mut streams = Vec::new();
    for number in 0..COUNT {
        let mut stream = TcpStream::connect(server.addr).await.unwrap();
        let reference = reference(role == "polls-of-one", number);
        let request = format!(
            "GET /v1/verdict/{reference}?waitMs=30000 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        streams.push(stream);
    }
    settled(&server).await;
    let bytes_each = (server.memory() - before) / COUNT as f64;
    let began = Instant::now();
    server.go();
    let mut answers = JoinSet::new();
    for mut stream in streams {
        answers.spawn(async move {
            let mut buffer = [0; 2048];
            let count = stream.read(&mut buffer).await.unwrap();
            assert!(buffer[..count].starts_with(b"HTTP/1.1 200 OK"));
        });
    }
    answers.join_all().await;
    Polls { bytes_each, seconds: began.elapsed().as_secs_f64() }
}

/// Waits until the server is idle.
async fn settled(server: &Child) {
    let mut cpu = server.cpu();
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now = server.cpu();
        if now == cpu {
            return;
        }
        cpu = now;
    }
}
