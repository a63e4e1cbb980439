use std::fmt;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, Version};

/// A request, as it was sent or as it arrived. The body is what was read, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Method, as on the wire.
    pub method: String,
    /// Request target, as on the wire: path and query.
    pub target: String,
    /// HTTP version.
    pub version: Version,
    /// Header fields.
    pub headers: HeaderMap,
    /// Body after its transfer coding.
    pub body: Bytes,
    /// The body arrived to its end.
    pub complete: bool,
}

/// An answer, as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// HTTP version.
    pub version: Version,
    /// Header fields.
    pub headers: HeaderMap,
    /// Body after its transfer coding, at most as much as the reader's limit.
    pub body: Bytes,
    /// The body arrived to its end.
    pub complete: bool,
}

impl Answer {
    /// Whether the connection ends with this answer to a request with this method: it says so, or its body has no other end
    /// (RFC 9112 §6.3, §9.3).
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

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoAnswer {
    /// No connection; what the system said.
    NotConnected(String),
    /// No TLS session; what the library said.
    NoTls(String),
    /// The connection was closed first.
    Closed,
    /// The connection was reset first.
    Reset,
    /// Nothing came in this time; the connection is open.
    TimedOut(Duration),
    /// What came is not HTTP, or goes beyond a limit of ours; what the library said.
    NotHttp(String),
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConnected(why) => write!(f, "no connection ({why})"),
            Self::NoTls(why) => write!(f, "no TLS session ({why})"),
            Self::Closed => f.write_str("connection closed without an answer"),
            Self::Reset => f.write_str("connection reset without an answer"),
            Self::TimedOut(limit) => {
                write!(f, "no answer within {}, connection still open", humantime::format_duration(*limit))
            }
            Self::NotHttp(why) => write!(f, "no HTTP answer ({why})"),
        }
    }
}

/// A request that a client of ours sent, with what came of it.
#[derive(Debug, Clone)]
pub struct Sent {
    /// The request.
    pub request: Request,
    /// The answer, or why there is none.
    pub reply: Result<Answer, NoAnswer>,
    /// When the first byte was sent.
    pub at: Instant,
    /// From there to the last byte of the answer, or to giving up.
    pub took: Duration,
}
