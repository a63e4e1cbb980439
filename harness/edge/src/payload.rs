use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::style::Framing;

/// The body of an answer, in one piece or in two.
#[derive(Debug, Default)]
pub(super) struct Payload {
    pieces: [Option<Bytes>; 2],
    framing: Framing,
}

impl Payload {
    /// With this framing; nothing is always sized.
    pub(super) fn new(mut body: Bytes, framing: Framing) -> Self {
        if body.is_empty() {
            return Self::default();
        }
        match framing {
            Framing::Sized => Self { pieces: [Some(body), None], framing },
            Framing::Chunked => {
                let rest = body.split_off(body.len() / 2);
                Self {
                    pieces: [body, rest].map(|piece| Some(piece).filter(|piece| !piece.is_empty())),
                    framing,
                }
            }
        }
    }
}

impl Body for Payload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.get_mut().pieces.iter_mut().find_map(Option::take);
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.iter().all(Option::is_none)
    }

    fn size_hint(&self) -> SizeHint {
        match self.framing {
            Framing::Sized => {
                SizeHint::with_exact(self.pieces.iter().flatten().map(|piece| piece.len() as u64).sum())
            }
            Framing::Chunked => SizeHint::default(),
        }
    }
}
