use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;

/// Request to send, well-formed or deliberately malformed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Method, written verbatim.
    pub method: String,
    /// Path and query below the server's base path, written verbatim.
    pub path: String,
    /// Header fields except `Host` and framing, written verbatim.
    pub headers: Vec<(String, String)>,
    /// Body and its framing.
    pub body: Body,
    /// Local address to connect from (default: chosen by the system).
    pub from: Option<IpAddr>,
}

/// Body of a request with its framing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// No body and no framing header.
    None,
    /// With `Content-Length`.
    Sized(Bytes),
    /// Chunked, with chunks of at most this number of bytes, each flushed separately.
    Chunked(Bytes, usize),
    /// With `Content-Length`, in this number of parts with a pause between them.
    Slow(Bytes, usize, Duration),
    /// With `Content-Length` and `Expect: 100-continue`: sent after the interim `100`, or after one second.
    Expect(Bytes),
    /// Raw bytes after the head, with framing headers from [`Draft::headers`].
    Raw(Bytes),
    /// As `Raw`, then a shutdown of the write half of the stream.
    Broken(Bytes),
}

impl Draft {
    /// Creates a request without a body.
    pub fn new(method: &str, path: &str) -> Self {
        Self { method: method.into(), path: path.into(), headers: Vec::new(), body: Body::None, from: None }
    }

    /// Adds a header field.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: Body) -> Self {
        self.body = body;
        self
    }

    /// First value of a header field; the name is case-insensitive.
    pub fn header_value(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

impl Body {
    /// Bytes without framing.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::None => &[],
            Self::Sized(bytes)
            | Self::Chunked(bytes, _)
            | Self::Slow(bytes, ..)
            | Self::Expect(bytes)
            | Self::Raw(bytes)
            | Self::Broken(bytes) => bytes,
        }
    }

    /// The same framing with other bytes.
    #[must_use]
    pub fn with_bytes(&self, bytes: Bytes) -> Self {
        match self {
            Self::None => Self::None,
            Self::Sized(_) => Self::Sized(bytes),
            Self::Chunked(_, size) => Self::Chunked(bytes, *size),
            Self::Slow(_, parts, pause) => Self::Slow(bytes, *parts, *pause),
            Self::Expect(_) => Self::Expect(bytes),
            Self::Raw(_) => Self::Raw(bytes),
            Self::Broken(_) => Self::Broken(bytes),
        }
    }

    /// Framing header fields. A raw or broken body uses those of its draft.
    pub(super) fn framing(&self) -> Vec<(&'static str, String)> {
        let length = |bytes: &Bytes| ("Content-Length", bytes.len().to_string());
        match self {
            Self::None | Self::Raw(_) | Self::Broken(_) => Vec::new(),
            Self::Sized(bytes) | Self::Slow(bytes, ..) => vec![length(bytes)],
            Self::Chunked(..) => vec![("Transfer-Encoding", "chunked".to_owned())],
            Self::Expect(bytes) => vec![length(bytes), ("Expect", "100-continue".to_owned())],
        }
    }
}

/// Step of writing an encoded request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WriteStep {
    /// Write and flush bytes.
    Bytes(Bytes),
    /// Pause.
    Pause(Duration),
    /// Wait for an interim `100`, at most one second.
    AwaitContinue,
    /// Shut down the write half.
    EndOfStream,
}

/// Encodes a request for an HTTP/1.1 connection.
pub(super) fn encode(draft: &Draft, authority: &str, base: &str) -> Vec<WriteStep> {
    let mut head = format!("{} {base}{} HTTP/1.1\r\nHost: {authority}\r\n", draft.method, draft.path);
    for (name, value) in &draft.headers {
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
        head.push_str("\r\n");
    }
    for (name, value) in draft.body.framing() {
        head.extend([name, ": ", &value, "\r\n"]);
    }
    match &draft.body {
        Body::None => vec![whole(&head, &[])],
        Body::Sized(bytes) | Body::Raw(bytes) => vec![whole(&head, bytes)],
        Body::Chunked(bytes, size) => {
            let mut parts = vec![whole(&head, &[])];
            parts.extend(bytes.chunks((*size).max(1)).map(chunk));
            parts.push(WriteStep::Bytes(Bytes::from_static(b"0\r\n\r\n")));
            parts
        }
        Body::Slow(bytes, count, pause) => {
            let mut parts = vec![whole(&head, &[])];
            for piece in bytes.chunks(bytes.len().div_ceil((*count).max(1)).max(1)) {
                parts.push(WriteStep::Pause(*pause));
                parts.push(WriteStep::Bytes(Bytes::copy_from_slice(piece)));
            }
            parts
        }
        Body::Expect(bytes) => {
            vec![whole(&head, &[]), WriteStep::AwaitContinue, WriteStep::Bytes(bytes.clone())]
        }
        Body::Broken(bytes) => vec![whole(&head, bytes), WriteStep::EndOfStream],
    }
}

fn whole(head: &str, body: &[u8]) -> WriteStep {
    WriteStep::Bytes([head.as_bytes(), b"\r\n", body].concat().into())
}

fn chunk(bytes: &[u8]) -> WriteStep {
    WriteStep::Bytes([format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat().into())
}
