use std::io;

use bytes::Bytes;
use edgeproof_http::StreamControl;
use futures_util::stream::{self, BoxStream, StreamExt};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Response, StatusCode, Version};
use http_body_util::{Either, Full, StreamBody};
use hyper::body::Frame;

use crate::decision::allowed_body;

/// Body of an answer: complete, or a part of it after which the stream breaks off.
pub(crate) type AnswerBody = Either<Full<Bytes>, StreamBody<BoxStream<'static, io::Result<Frame<Bytes>>>>>;

/// Error for hyper in place of an answer: the mock service ended the connection on purpose.
#[derive(Debug, thiserror::Error)]
#[error("answer: the connection was ended on purpose")]
pub(crate) struct ConnectionEnded;

/// A complete answer.
pub(crate) fn answer(status: u16, headers: HeaderMap, body: Bytes) -> Response<AnswerBody> {
    let body = allowed_body(status, body);
    response(status, headers, Either::Left(Full::new(body)))
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
    let (part, control) = (body.slice(..after.min(body.len())), control.clone());
    let parts = stream::once(async move {
        let flushed = control.flushed(part.len());
        (part, flushed)
    });
    let parts = parts.flat_map(|(part, flushed)| {
        let part = (!part.is_empty()).then(|| Ok(Frame::data(part)));
        // hyper would drop unsent data at an error, so the part has to be on the wire first.
        stream::iter(part).chain(stream::once(async move {
            flushed.await;
            Err(io::ErrorKind::BrokenPipe.into())
        }))
    });
    response(status, headers, Either::Right(StreamBody::new(parts.boxed())))
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

fn response(status: u16, headers: HeaderMap, body: AnswerBody) -> Response<AnswerBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status_code(status);
    *response.headers_mut() = headers;
    response
}

fn status_code(status: u16) -> StatusCode {
    StatusCode::from_u16(status).expect("rows and scripts contain valid status codes")
}
