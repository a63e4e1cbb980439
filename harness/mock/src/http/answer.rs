use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use edgeproof_http::{Flushed, StreamControl};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Response, StatusCode, Version};
use hyper::body::{Body, Frame, SizeHint};

use crate::decision::allowed_body;

/// Body of an answer.
pub(crate) enum AnswerBody {
    /// A complete body.
    Whole(Option<Bytes>),
    /// Part of a body. The stream breaks off after the part is on the wire.
    Cut { part: Option<Bytes>, control: StreamControl, flushed: Option<Flushed> },
}

/// Error for hyper in place of an answer: the mock service ended the connection on purpose.
#[derive(Debug, thiserror::Error)]
#[error("answer: the connection was ended on purpose")]
pub(crate) struct ConnectionEnded;

/// A complete answer.
pub(crate) fn answer(status: u16, headers: HeaderMap, body: Bytes) -> Response<AnswerBody> {
    let body = allowed_body(status, body);
    response(status, headers, AnswerBody::Whole((!body.is_empty()).then_some(body)))
}

/// HTTP/1.1 bytes of an answer whose body is cut off.
pub(crate) fn cut_body(status: u16, body: &Bytes, after: usize) -> Bytes {
    let status = status_code(status);
    let head = format!(
        "HTTP/1.1 {} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        status.as_str(),
        status.canonical_reason().unwrap_or_default(),
        body.len()
    );
    [head.as_bytes(), &body[..after.min(body.len())]].concat().into()
}

/// HTTP/2 answer whose body is cut off: only its stream breaks off.
pub(crate) fn cut_stream(
    status: u16,
    body: &Bytes,
    after: usize,
    control: &StreamControl,
) -> Response<AnswerBody> {
    let headers = HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (CONTENT_LENGTH, HeaderValue::from(body.len())),
    ]);
    let part = Some(body.slice(..after.min(body.len())));
    response(status, headers, AnswerBody::Cut { part, control: control.clone(), flushed: None })
}

/// Bytes of a head that is cut off in the middle.
pub(crate) fn cut_head(version: Version) -> Bytes {
    if version == Version::HTTP_2 {
        // A HEADERS frame on stream 1 that promises 64 bytes and holds the status 200.
        Bytes::from_static(b"\x00\x00\x40\x01\x04\x00\x00\x00\x01\x88")
    } else {
        Bytes::from_static(b"HTTP/1.1 200 OK\r\ncontent-type: applic")
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match self.get_mut() {
            Self::Whole(body) => Poll::Ready(body.take().map(|body| Ok(Frame::data(body)))),
            Self::Cut { part, control, flushed } => {
                if let Some(part) = part.take() {
                    *flushed = Some(control.flushed(part.len()));
                    if !part.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(part))));
                    }
                }
                // hyper would drop unsent data at an error, so the part has to be on the wire first.
                if let Some(flushed) = flushed {
                    ready!(Pin::new(flushed).poll(cx));
                }
                Poll::Ready(Some(Err(io::ErrorKind::BrokenPipe.into())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64)),
            Self::Cut { .. } => SizeHint::default(),
        }
    }
}

fn response(status: u16, headers: HeaderMap, body: AnswerBody) -> Response<AnswerBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status_code(status);
    *response.headers_mut() = headers;
    response
}

fn status_code(status: u16) -> StatusCode {
    StatusCode::from_u16(status).expect("rows and scripts contain valid status codes")
}
