use std::time::Duration;

/// What one connection, and all of them, may cost.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections that are open at the same time; further ones wait in the system's queue.
    pub connections: usize,
    /// Time for a TLS handshake.
    pub handshake: Duration,
    /// Time for the head of an HTTP/1.1 request, counted from the end of the answer before it: thus also how long
    /// such a connection may idle.
    pub head: Duration,
    /// Time for the body of a request.
    pub body: Duration,
    /// Bytes of the head of a request.
    pub head_bytes: usize,
    /// Requests at the same time on one HTTP/2 connection.
    pub streams: u32,
    /// Names of header fields begin with capitals, over HTTP/1.1.
    pub title_case: bool,
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
        }
    }
}
