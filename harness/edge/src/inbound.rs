use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use thiserror::Error;
use tokio::time::timeout;

/// A page's body, as far as it was read before anything is relayed.
pub(super) enum Inbound {
    /// All of it.
    Whole(Bytes),
    /// More than is kept in memory: the beginning, and where the rest comes from.
    Longer {
        /// The beginning.
        first: Bytes,
        /// The rest.
        rest: Incoming,
    },
}

/// The page's body ended before its end, broke the rules of its transfer coding, or stalled.
#[derive(Debug, Clone, Copy, Error)]
#[error("the body broke off")]
pub(super) struct Broken;

/// Reads a body to its end, or until it is longer than `keep` bytes. `idle` is the longest time without a byte. The
/// error holds what came of a body that broke off.
pub(super) async fn read(mut body: Incoming, keep: usize, idle: Duration) -> Result<Inbound, Bytes> {
    let mut chunks = Vec::new();
    let mut size = 0;
    loop {
        let frame = match timeout(idle, body.frame()).await {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) | Err(_) => return Err(join(chunks, size)),
        };
        // Trailers are of the connection's making: they stay here.
        let Ok(chunk) = frame.into_data() else { continue };
        size += chunk.len();
        chunks.push(chunk);
        if size > keep {
            return Ok(Inbound::Longer { first: join(chunks, size), rest: body });
        }
    }
    Ok(Inbound::Whole(join(chunks, size)))
}

/// Reads what is left of a body that nobody wants, within bounds, so that the answer is not lost to a reset: a
/// connection that is closed with unread bytes is reset.
pub(super) async fn discard(mut body: Incoming, most: usize, idle: Duration) {
    let mut size = 0;
    while let Ok(Some(Ok(frame))) = timeout(idle, body.frame()).await {
        size += frame.data_ref().map_or(0, Bytes::len);
        if size > most || body.is_end_stream() {
            return;
        }
    }
}

fn join(mut chunks: Vec<Bytes>, size: usize) -> Bytes {
    if chunks.len() == 1 {
        return chunks.remove(0);
    }
    let mut whole = BytesMut::with_capacity(size);
    for chunk in chunks {
        whole.extend_from_slice(&chunk);
    }
    whole.freeze()
}
