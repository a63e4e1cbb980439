use std::time::Duration;

/// Limits of a server and its connections.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum number of open connections; others wait in the system's queue.
    pub connections: usize,
    /// TLS handshake timeout.
    pub handshake: Duration,
    /// Timeout for the head of an HTTP/1.1 request, from the end of the previous answer. Also the keep-alive
    /// timeout.
    pub head: Duration,
    /// Timeout for the body of a request.
    pub body: Duration,
    /// Maximum size of a request head (bytes).
    pub head_bytes: usize,
    /// Maximum number of concurrent streams on one HTTP/2 connection.
    pub streams: u32,
    /// Title-case header names over HTTP/1.1.
    pub title_case: bool,
    /// Checks the form of HTTP/1 requests, for [`Server::violations`](super::Server::violations).
    pub checks_requests: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            handshake: Duration::from_secs(10),
            head: Duration::from_secs(30),
            body: Duration::from_secs(60),
            head_bytes: 64 * 1024,
            streams: 256,
            title_case: false,
            checks_requests: false,
        }
    }
}
