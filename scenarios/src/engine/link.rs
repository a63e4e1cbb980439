use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use super::connector::{Connector, Stream};
use crate::measure::Failure;

/// Bytes of an answer's body that are looked at.
const KEPT: usize = 64 * 1024;

/// A user's connection to one endpoint: HTTP/1.1, opened when it is needed, kept as long as it lives.
///
/// It is driven by the user's own task, not by one beside it: that saves two changes of task for each request.
#[derive(Debug)]
pub struct Link {
    connector: Arc<Connector>,
    open: Option<Open>,
}

/// An answer to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Status.
    pub status: u16,
    /// Body, as far as it is looked at.
    pub body: Bytes,
}

type Driver = http1::Connection<TokioIo<Stream>, Full<Bytes>>;

struct Open {
    sender: http1::SendRequest<Full<Bytes>>,
    driver: Pin<Box<Driver>>,
    /// The driver must not be polled again.
    ended: bool,
}

impl Link {
    /// One that is not open yet.
    pub fn new(connector: Arc<Connector>) -> Self {
        Self { connector, open: None }
    }

    /// Where it leads.
    pub fn connector(&self) -> &Connector {
        &self.connector
    }

    /// Opens the connection, unless it is open.
    pub async fn open(&mut self) -> Result<(), Failure> {
        if self.open.as_mut().is_some_and(Open::is_alive) {
            return Ok(());
        }
        self.open = None;
        let stream = self.connector.connect().await?;
        let (sender, driver) = http1::Builder::new()
            // Enough for any answer of the interface; hyper's own would take 400 KB a user when pushed.
            .max_buf_size(16 * 1024)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|_| Failure::NotHttp)?;
        self.open = Some(Open { sender, driver: Box::pin(driver), ended: false });
        Ok(())
    }

    /// Sends a request and reads the answer to its end. After a failure the connection is gone.
    pub async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, Failure> {
        self.open().await?;
        let open = self.open.as_mut().expect("it was opened just now");
        let answered = open.exchange(request).await;
        if answered.is_err() {
            self.open = None;
        }
        answered
    }

    /// Closes the connection: what is under way on it is given up.
    pub fn close(&mut self) {
        self.open = None;
    }
}

impl Open {
    /// Looks whether the peer closed it in the meantime.
    fn is_alive(&mut self) -> bool {
        if !self.ended {
            let mut cx = Context::from_waker(std::task::Waker::noop());
            self.ended = self.driver.as_mut().poll(&mut cx).is_ready();
        }
        !self.ended && !self.sender.is_closed()
    }

    fn drive(&mut self, cx: &mut Context<'_>) {
        if !self.ended && self.driver.as_mut().poll(cx).is_ready() {
            self.ended = true;
        }
    }

    async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, Failure> {
        let sending = self.sender.send_request(request);
        let mut sending = pin!(sending);
        let (driver, ended) = (&mut self.driver, &mut self.ended);
        let response: Response<Incoming> = poll_fn(|cx| {
            // First the driver: what it reads is what `sending` waits for.
            if !*ended && driver.as_mut().poll(cx).is_ready() {
                *ended = true;
            }
            match sending.as_mut().poll(cx) {
                Poll::Pending if *ended => Poll::Ready(Err(Failure::Closed)),
                Poll::Pending => Poll::Pending,
                Poll::Ready(answered) => Poll::Ready(answered.map_err(|why| failure(&why))),
            }
        })
        .await?;
        let status = response.status().as_u16();
        let body = self.body(response.into_body()).await?;
        // The driver has to come to rest, so that the connection is free for the next request.
        if !self.ended {
            poll_fn(|cx| {
                self.drive(cx);
                if self.ended || self.sender.is_ready() { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
        Ok(Answer { status, body })
    }

    async fn body(&mut self, body: Incoming) -> Result<Bytes, Failure> {
        let mut body = pin!(body);
        let mut first = Bytes::new();
        let mut rest = BytesMut::new();
        loop {
            let frame = poll_fn(|cx| {
                if let Poll::Ready(frame) = body.as_mut().poll_frame(cx) {
                    return Poll::Ready(frame);
                }
                self.drive(cx);
                body.as_mut().poll_frame(cx)
            })
            .await;
            match frame {
                None => break,
                Some(Err(why)) => return Err(failure(&why)),
                Some(Ok(frame)) => {
                    let Ok(chunk) = frame.into_data() else { continue };
                    if first.is_empty() && rest.is_empty() {
                        first = chunk;
                        continue;
                    }
                    if rest.is_empty() {
                        rest.extend_from_slice(&first);
                    }
                    let room = KEPT.saturating_sub(rest.len()).min(chunk.len());
                    rest.extend_from_slice(&chunk[..room]);
                }
            }
        }
        Ok(if rest.is_empty() { first } else { rest.freeze() })
    }
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Open").field("ended", &self.ended).finish_non_exhaustive()
    }
}

fn failure(why: &hyper::Error) -> Failure {
    if why.is_parse() { Failure::NotHttp } else { Failure::Closed }
}
