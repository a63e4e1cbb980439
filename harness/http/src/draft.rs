use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;

use super::request_form::{ChunkExtras, HeadPace, RequestForm, TargetForm};

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
    /// How the head is written.
    pub form: RequestForm,
}

/// Body of a request with its framing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// No body and no framing header.
    None,
    /// With `Content-Length`.
    Sized(Bytes),
    /// Chunked, with chunks of at most this number of bytes. The first ones are flushed separately.
    Chunked(Bytes, usize),
    /// With `Content-Length`, in this number of parts with a pause between them.
    Slow(Bytes, usize, Duration),
    /// With `Content-Length` and `Expect: 100-continue`: sent after the interim `100`, or after one second.
    Expect(Bytes),
    /// Raw bytes after the head, with framing headers from [`Draft::headers`].
    Raw(Bytes),
    /// As `Raw`, then a shutdown of the write half of the stream.
    Broken(Bytes),
    /// As `Raw`, then a reset of the connection, as of a page that is gone.
    Aborted(Bytes),
}

impl Draft {
    /// Creates a request without a body.
    pub fn new(method: &str, path: &str) -> Self {
        Self {
            method: method.into(),
            path: path.into(),
            headers: Vec::new(),
            body: Body::None,
            from: None,
            form: RequestForm::default(),
        }
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
            | Self::Broken(bytes)
            | Self::Aborted(bytes) => bytes,
        }
    }

    /// Whether the framing may be malformed on purpose.
    pub fn is_malformed(&self) -> bool {
        matches!(self, Self::Raw(_) | Self::Broken(_) | Self::Aborted(_))
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
            Self::Aborted(_) => Self::Aborted(bytes),
        }
    }

    /// Framing header fields. A raw, broken or aborted body uses those of its draft.
    pub(super) fn framing(&self) -> Vec<(&'static str, String)> {
        let length = |bytes: &Bytes| ("Content-Length", bytes.len().to_string());
        match self {
            Self::None | Self::Raw(_) | Self::Broken(_) | Self::Aborted(_) => Vec::new(),
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
    /// Reset the connection.
    Reset,
}

/// Encodes a request for an HTTP/1.1 connection.
pub(super) fn encode(draft: &Draft, authority: &str, base: &str) -> Vec<WriteStep> {
    let form = &draft.form;
    let host = form.host.value(authority);
    let prefix = match form.target {
        TargetForm::Origin => String::new(),
        TargetForm::Absolute => format!("http://{host}"),
    };
    let version = if form.http10 { "1.0" } else { "1.1" };
    let mut head =
        format!("{} {prefix}{base}{} HTTP/{version}\r\nHost: {host}\r\n", draft.method, draft.path);
    for (name, value) in &draft.headers {
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
        head.push_str("\r\n");
    }
    for (name, value) in draft.body.framing() {
        head.extend([name, ": ", &value, "\r\n"]);
    }
    if form.chunks.trailer {
        head.push_str("Trailer: X-Checksum, X-Signature\r\n");
    }
    head.push_str("\r\n");
    let head = form.verbatim.clone().unwrap_or_else(|| head.into());
    let mut parts = Vec::new();
    let mut start = |body: &[u8]| {
        let (apart, rest): (Vec<&[u8]>, &[u8]) = match form.pace {
            HeadPace::Whole => {
                return parts.push(WriteStep::Bytes([&head, body].concat().into()));
            }
            HeadPace::Apart => (vec![&head], body),
            HeadPace::Lines => (head.split_inclusive(|byte| *byte == b'\n').collect(), body),
            HeadPace::Bytes => (head.chunks(1).collect(), body),
        };
        for (number, piece) in apart.into_iter().enumerate() {
            // Without a pause the system may join the pieces.
            if number % 32 == 1 {
                parts.push(WriteStep::Pause(PIECE_PAUSE));
            }
            parts.push(WriteStep::Bytes(Bytes::copy_from_slice(piece)));
        }
        if !rest.is_empty() {
            parts.push(WriteStep::Pause(PIECE_PAUSE));
            parts.push(WriteStep::Bytes(Bytes::copy_from_slice(rest)));
        }
    };
    match &draft.body {
        Body::None => start(&[]),
        Body::Sized(bytes) | Body::Raw(bytes) => start(bytes),
        Body::Chunked(bytes, size) => {
            start(&[]);
            let chunks: Vec<Bytes> =
                bytes.chunks((*size).max(1)).map(|piece| chunk(piece, form.chunks)).collect();
            let (apart, rest) = chunks.split_at(chunks.len().min(APART));
            parts.extend(apart.iter().cloned().map(WriteStep::Bytes));
            parts.extend(rest.chunks(APART).map(|group| WriteStep::Bytes(group.concat().into())));
            let end: &[u8] = if form.chunks.trailer {
                b"0\r\nX-Checksum: 1\r\nX-Signature: 2\r\n\r\n"
            } else {
                b"0\r\n\r\n"
            };
            parts.push(WriteStep::Bytes(Bytes::copy_from_slice(end)));
        }
        Body::Slow(bytes, count, pause) => {
            start(&[]);
            for piece in bytes.chunks(bytes.len().div_ceil((*count).max(1)).max(1)) {
                parts.push(WriteStep::Pause(*pause));
                parts.push(WriteStep::Bytes(Bytes::copy_from_slice(piece)));
            }
        }
        Body::Expect(bytes) => {
            start(&[]);
            parts.extend([WriteStep::AwaitContinue, WriteStep::Bytes(bytes.clone())]);
        }
        Body::Broken(bytes) => {
            start(bytes);
            parts.push(WriteStep::EndOfStream);
        }
        Body::Aborted(bytes) => {
            start(bytes);
            parts.extend([WriteStep::Pause(ABORT_PAUSE), WriteStep::Reset]);
        }
    }
    parts
}

/// Pause before a reset: it would overtake what the server has not read.
const ABORT_PAUSE: Duration = Duration::from_millis(30);

/// Pause between pieces of a head that are flushed separately.
const PIECE_PAUSE: Duration = Duration::from_millis(1);

/// Number of chunks that are flushed separately. Later chunks share a flush: thousands of tiny packets would only keep
/// the machine busy.
const APART: usize = 64;

fn chunk(bytes: &[u8], extras: ChunkExtras) -> Bytes {
    let extension = if extras.extension { ";part=\"1;2\"" } else { "" };
    [format!("{:x}{extension}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat().into()
}
