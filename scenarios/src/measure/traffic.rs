use std::time::Duration;

/// What a connection did since it was last asked. A user's connection collects it, and the user records it
/// after each request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConnectionTraffic {
    /// Set-up of a new connection.
    pub set_up: Option<ConnectionSetUp>,
    /// Bytes of HTTP written to the connection.
    pub bytes_sent: u64,
    /// Bytes of HTTP read from the connection.
    pub bytes_received: u64,
}

/// Times of the set-up of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionSetUp {
    /// Time until the connection was open, without TLS.
    pub connect: Duration,
    /// Duration of the TLS handshake; `None` without TLS.
    pub tls: Option<Duration>,
}
