use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::body::{Body, Incoming};
use parking_lot::Mutex;
use tokio::time::{Instant, Sleep, sleep, sleep_until};

use super::inbound_body::{BodyBroken, InboundBody};

/// Body of the request to the service: the page's body, byte for byte.
pub(super) struct OutboundBody {
    /// Bytes in memory that are not sent yet.
    first: Option<Bytes>,
    rest: Option<StreamedRest>,
    /// Hides the length, so that hyper sends chunks.
    chunked: bool,
    progress: Arc<UploadProgress>,
}

/// Progress of an upload to the service.
#[derive(Debug)]
pub(super) struct UploadProgress {
    broken: AtomicBool,
    last_sent: Mutex<Instant>,
}

struct StreamedRest {
    body: Incoming,
    idle: Duration,
    deadline: Pin<Box<Sleep>>,
}

impl OutboundBody {
    /// `idle`: timeout for the next byte from the page.
    pub(super) fn new(body: InboundBody, idle: Duration, chunked: bool) -> (Self, Arc<UploadProgress>) {
        let (first, rest) = match body {
            InboundBody::Complete(bytes) => (bytes, None),
            InboundBody::Streamed { first, rest } => {
                (first, Some(StreamedRest { body: rest, idle, deadline: Box::pin(sleep(idle)) }))
            }
        };
        let progress =
            UploadProgress { broken: AtomicBool::new(false), last_sent: Mutex::new(Instant::now()) };
        let progress = Arc::new(progress);
        let first = Some(first).filter(|first| !first.is_empty());
        (Self { first, rest, chunked, progress: Arc::clone(&progress) }, progress)
    }
}

impl UploadProgress {
    /// Whether the page's body broke off during the upload. The service then got an incomplete request.
    pub(super) fn broke(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Waits until no byte was sent for `limit`.
    pub(super) async fn stalled(&self, limit: Duration) {
        loop {
            let last_sent = *self.last_sent.lock();
            sleep_until(last_sent + limit).await;
            if *self.last_sent.lock() == last_sent {
                return;
            }
        }
    }
}

impl Body for OutboundBody {
    type Data = Bytes;
    type Error = BodyBroken;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyBroken>>> {
        let this = self.get_mut();
        if let Some(first) = this.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let Some(rest) = &mut this.rest else { return Poll::Ready(None) };
        match rest.poll(cx) {
            Poll::Ready(Some(Err(BodyBroken))) => {
                this.progress.broken.store(true, Ordering::Relaxed);
                Poll::Ready(Some(Err(BodyBroken)))
            }
            Poll::Ready(frame) => {
                *this.progress.last_sent.lock() = Instant::now();
                Poll::Ready(frame)
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.rest.as_ref().is_none_or(|rest| rest.body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        if self.chunked {
            return SizeHint::default();
        }
        let first = self.first.as_ref().map_or(0, Bytes::len) as u64;
        let Some(rest) = &self.rest else { return SizeHint::with_exact(first) };
        let rest = rest.body.size_hint();
        let mut sum = SizeHint::new();
        if let Some(upper) = rest.upper() {
            sum.set_upper(first + upper);
        }
        sum.set_lower(first + rest.lower());
        sum
    }
}

impl StreamedRest {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyBroken>>> {
        loop {
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Some(Err(BodyBroken))),
                Poll::Ready(Some(Ok(frame))) if frame.is_data() => {
                    self.deadline.as_mut().reset(Instant::now() + self.idle);
                    return Poll::Ready(Some(Ok(frame)));
                }
                // Trailers are not relayed.
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Pending => return self.deadline.as_mut().poll(cx).map(|()| Some(Err(BodyBroken))),
            }
        }
    }
}
