//! The client of concurrent long polls.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::server::MeasuredServer;

/// Concurrent polls.
pub(crate) const COUNT: usize = 5_000;
/// Size of the bare server's answer (bytes), equal to a verdict's.
pub(crate) const BODY: usize = 450;

/// Cost of the polls.
pub(crate) struct Polls {
    /// Memory for each poll (bytes), nearly all of it the server's.
    pub(crate) bytes_each: f64,
    /// Time from the start signal to the last answer (s).
    pub(crate) seconds: f64,
}

/// Opens the polls, gives the start signal, and reads all answers. `reference`: session reference of each poll.
pub(crate) async fn measure<S: Send + 'static>(
    server: MeasuredServer<S>,
    read_token: &str,
    reference: impl Fn(usize) -> String,
    start: impl FnOnce(&S),
) -> Polls {
    let before = memory();
    let mut streams = Vec::new();
    for number in 0..COUNT {
        let mut stream = TcpStream::connect(server.addr).unwrap();
        let request = format!(
            "GET /v1/verdict/{}?waitMs=30000 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {read_token}\r\n\r\n",
            reference(number)
        );
        stream.write_all(request.as_bytes()).unwrap();
        streams.push(stream);
    }
    settled(&server).await;
    let bytes_each = (memory() - before) / COUNT as f64;
    let began = Instant::now();
    start(&server.service);
    for mut stream in streams {
        let mut buffer = [0; 2048];
        let count = stream.read(&mut buffer).unwrap();
        assert!(buffer[..count].starts_with(b"HTTP/1.1 200 OK"));
    }
    Polls { bytes_each, seconds: began.elapsed().as_secs_f64() }
}

/// Waits until the server is idle. Reading its CPU time costs some as well.
async fn settled<S: Send + 'static>(server: &MeasuredServer<S>) {
    let mut before = server.cpu().await;
    loop {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let now = server.cpu().await;
        if now - before < 0.001 {
            return;
        }
        before = now;
    }
}

/// Resident memory of this process (bytes).
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() * 1024.0
}
