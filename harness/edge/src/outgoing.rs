use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use hyper::body::{Body, Incoming};
use tokio::time::{Instant, Sleep, sleep};

use super::inbound::{Broken, Inbound};

/// The body of the request to the service: the page's, byte for byte.
pub(super) struct Outgoing {
    /// What is there and not yet taken.
    first: Option<Bytes>,
    rest: Option<Rest>,
    /// Its length is told, where it is known.
    sized: bool,
    upload: Arc<Upload>,
}

/// What is known of a body on its way.
#[derive(Debug)]
pub(super) struct Upload {
    broken: AtomicBool,
    last: Mutex<Instant>,
}

struct Rest {
    body: Incoming,
    idle: Duration,
    patience: Pin<Box<Sleep>>,
}

impl Outgoing {
    /// `idle` is the longest time without a byte from the page.
    pub(super) fn new(inbound: Inbound, idle: Duration, sized: bool) -> (Self, Arc<Upload>) {
        let (first, rest) = match inbound {
            Inbound::Whole(bytes) => (bytes, None),
            Inbound::Longer { first, rest } => {
                (first, Some(Rest { body: rest, idle, patience: Box::pin(sleep(idle)) }))
            }
        };
        let upload = Arc::new(Upload { broken: AtomicBool::new(false), last: Mutex::new(Instant::now()) });
        let first = Some(first).filter(|first| !first.is_empty());
        (Self { first, rest, sized, upload: Arc::clone(&upload) }, upload)
    }
}

impl Upload {
    /// The page's body broke off on the way. What the service got of it is incomplete, and the service can tell.
    pub(super) fn broke(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Waits until nothing was sent for as long as `limit`.
    pub(super) async fn stalled(&self, limit: Duration) {
        loop {
            let last = self.last();
            tokio::time::sleep_until(last + limit).await;
            if self.last() == last {
                return;
            }
        }
    }

    fn last(&self) -> Instant {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn moved(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let this = self.get_mut();
        if let Some(first) = this.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let Some(rest) = &mut this.rest else { return Poll::Ready(None) };
        match rest.poll(cx) {
            Poll::Ready(Some(Err(Broken))) => {
                this.upload.broken.store(true, Ordering::Relaxed);
                Poll::Ready(Some(Err(Broken)))
            }
            Poll::Ready(frame) => {
                this.upload.moved();
                Poll::Ready(frame)
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.rest.as_ref().is_none_or(|rest| rest.body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        if !self.sized {
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

impl Rest {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        loop {
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Some(Err(Broken))),
                Poll::Ready(Some(Ok(frame))) if frame.is_data() => {
                    self.patience.as_mut().reset(Instant::now() + self.idle);
                    return Poll::Ready(Some(Ok(frame)));
                }
                // Trailers stay here.
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Pending => return self.patience.as_mut().poll(cx).map(|()| Some(Err(Broken))),
            }
        }
    }
}
