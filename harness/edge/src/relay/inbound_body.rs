use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use thiserror::Error;
use tokio::time::timeout;

/// Body of the page's request, as far as it was read before the relay starts.
pub(crate) enum InboundBody {
    /// Complete body.
    Complete(Bytes),
    /// Body that exceeds the memory limit; the rest is streamed.
    Streamed {
        /// Bytes read so far.
        first: Bytes,
        /// Unread rest.
        rest: Incoming,
    },
}

/// The page's body ended early, violated its transfer coding, or timed out.
#[derive(Debug, Clone, Copy, Error)]
#[error("the body broke off")]
pub(super) struct BodyBroken;

/// Reads a body to its end, or until it exceeds `limit` bytes. `idle`: timeout for the next byte. The error contains
/// the received part of a broken body.
pub(crate) async fn read(mut body: Incoming, limit: usize, idle: Duration) -> Result<InboundBody, Bytes> {
    let mut chunks = Vec::new();
    let mut size = 0;
    loop {
        let frame = match timeout(idle, body.frame()).await {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) | Err(_) => return Err(join(chunks, size)),
        };
        // Trailers belong to the page's connection and are not relayed.
        let Ok(chunk) = frame.into_data() else { continue };
        size += chunk.len();
        chunks.push(chunk);
        if size > limit {
            return Ok(InboundBody::Streamed { first: join(chunks, size), rest: body });
        }
    }
    Ok(InboundBody::Complete(join(chunks, size)))
}

/// Reads and drops up to `limit` bytes of an unused body. Closing a connection with unread bytes resets it, and the
/// reset can destroy the answer.
pub(crate) async fn discard(mut body: Incoming, limit: usize, idle: Duration) {
    let mut size = 0;
    while let Ok(Some(Ok(frame))) = timeout(idle, body.frame()).await {
        size += frame.data_ref().map_or(0, Bytes::len);
        if size > limit || body.is_end_stream() {
            return;
        }
    }
}

fn join(mut chunks: Vec<Bytes>, size: usize) -> Bytes {
    if chunks.len() == 1 {
        return chunks.remove(0);
    }
    let mut joined = BytesMut::with_capacity(size);
    for chunk in chunks {
        joined.extend_from_slice(&chunk);
    }
    joined.freeze()
}
