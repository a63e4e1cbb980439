use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, Version};

use super::{TlsFailure, Violation};

/// Recorded request, as sent or as received, with the exact bytes of its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Method, verbatim.
    pub method: String,
    /// Request target, verbatim: path and query.
    pub target: String,
    /// HTTP version.
    pub version: Version,
    /// Header fields.
    pub headers: HeaderMap,
    /// Body without transfer coding.
    pub body: Bytes,
    /// Whether the body is complete.
    pub complete: bool,
}

/// Recorded answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// HTTP version.
    pub version: Version,
    /// Header fields.
    pub headers: HeaderMap,
    /// Body without transfer coding, up to the reader's limit.
    pub body: Bytes,
    /// Whether the body is complete.
    pub complete: bool,
}

impl Answer {
    /// Whether the connection closes after this answer to a `method` request: by its header, or because only the close
    /// ends its body (RFC 9112 §6.3, §9.3).
    pub fn ends_connection(&self, method: &str) -> bool {
        let says = |word: &str| {
            let values = self.headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
            values.flat_map(|value| value.split(',')).any(|option| option.trim().eq_ignore_ascii_case(word))
        };
        let bodiless = method == "HEAD" || matches!(self.status, 204 | 304);
        let ends = self.headers.contains_key(CONTENT_LENGTH) || self.headers.contains_key(TRANSFER_ENCODING);
        says("close") || (self.version == Version::HTTP_10 && !says("keep-alive")) || !(bodiless || ends)
    }
}

/// Reason for a missing answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// The connection failed; with the system's error.
    #[error("no connection ({0})")]
    NotConnected(String),
    /// This program has no more files or ports; with the system's error.
    #[error("no socket ({0})")]
    NoSocket(String),
    /// There is no TLS session; with the cause.
    #[error("no TLS session ({0})")]
    NoTls(TlsFailure),
    /// The connection was closed before an answer.
    #[error("connection closed without an answer")]
    Closed,
    /// The connection was reset before an answer.
    #[error("connection reset without an answer")]
    Reset,
    /// No answer arrived within this time; the connection is still open.
    #[error("no answer within {}, connection still open", humantime::format_duration(*.0))]
    TimedOut(Duration),
    /// The bytes are invalid HTTP or exceed a limit; with the parser's error.
    #[error("no HTTP answer ({0})")]
    NotHttp(String),
}

/// Place of a request on its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionUse {
    /// Number of the connection, unique in this process.
    pub connection: u64,
    /// Number of earlier requests on it.
    pub earlier: usize,
}

impl ConnectionUse {
    /// The first request on a new connection.
    pub fn first() -> Self {
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
        Self { connection: CONNECTIONS.fetch_add(1, Ordering::Relaxed), earlier: 0 }
    }

    /// The next request on the same connection.
    #[must_use]
    pub fn next(self) -> Self {
        Self { earlier: self.earlier + 1, ..self }
    }
}

/// Request that was sent, with its result.
#[derive(Debug, Clone)]
pub struct Sent {
    /// Place on its connection.
    pub place: ConnectionUse,
    /// The request.
    pub request: Request,
    /// Answer, or the reason for its absence.
    pub reply: Result<Answer, NoAnswer>,
    /// Rules of HTTP/1 that the answers broke, interim and final.
    pub violations: Vec<Violation>,
    /// Time of the first byte sent.
    pub at: Instant,
    /// Duration from the first byte sent to the last byte of the answer, or to the timeout.
    pub took: Duration,
}

impl Sent {
    /// Time of the last byte of the answer.
    pub fn received(&self) -> SystemTime {
        SystemTime::now() - self.at.elapsed().saturating_sub(self.took)
    }
}
