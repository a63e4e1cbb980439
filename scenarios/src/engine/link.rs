use std::future::poll_fn;
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
    /// What is to be sent. Here and not in futures, each of which would keep a place for it: a user would take twice the memory.
    request: Option<Request<Full<Bytes>>>,
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
    /// Gone when it came to its end.
    driver: Option<Pin<Box<Driver>>>,
}

/// A request without an answer.
enum Unanswered {
    /// The connection had ended before any of it was sent; it is where it was.
    Unsent,
    Failed(Failure),
}

impl Link {
    /// One that is not open yet.
    pub fn new(connector: Arc<Connector>) -> Self {
        Self { connector, open: None, request: None }
    }

    /// Where it leads.
    pub fn connector(&self) -> &Connector {
        &self.connector
    }

    /// Opens the connection, unless it is open.
    pub async fn open(&mut self) -> Result<(), Failure> {
        if self.open.is_none() {
            self.open = Some(Open::new(&self.connector).await?);
        }
        Ok(())
    }

    /// Takes the request that the next exchange sends.
    pub fn stage(&mut self, request: Request<Full<Bytes>>) {
        self.request = Some(request);
    }

    /// Sends the request that was staged, and reads the answer to its end; over a new connection where the peer has closed the
    /// one that was open, in which case nothing was sent over that. After a failure the connection is gone.
    ///
    /// # Panics
    ///
    /// Without a request.
    pub async fn exchange(&mut self) -> Result<Answer, Failure> {
        if let Some(open) = &mut self.open {
            match open.exchange(&mut self.request).await {
                Err(Unanswered::Unsent) => {}
                answered => return self.keep(answered),
            }
        }
        self.open = None;
        // On the heap: every request would take room for what hardly one needs.
        let open = self.open.insert(Box::pin(Open::new(&self.connector)).await?);
        let answered = open.exchange(&mut self.request).await;
        self.keep(answered)
    }

    /// Closes the connection: what is under way on it is given up.
    pub fn close(&mut self) {
        self.open = None;
    }

    fn keep(&mut self, answered: Result<Answer, Unanswered>) -> Result<Answer, Failure> {
        answered.map_err(|why| {
            self.open = None;
            match why {
                Unanswered::Failed(failure) => failure,
                Unanswered::Unsent => Failure::Closed,
            }
        })
    }
}

impl Open {
    async fn new(connector: &Connector) -> Result<Self, Failure> {
        let stream = connector.connect().await?;
        let (sender, driver) = http1::Builder::new()
            // Enough for any answer of the interface; hyper's own would take 400 KB a user when pushed.
            .max_buf_size(16 * 1024)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|_| Failure::NotHttp)?;
        Ok(Self { sender, driver: Some(Box::pin(driver)) })
    }

    /// Lets the connection do what it can. Where that is its end it is gone, and gives back what it has not sent.
    fn drive(driver: &mut Option<Pin<Box<Driver>>>, cx: &mut Context<'_>) {
        if let Some(driving) = driver
            && driving.as_mut().poll(cx).is_ready()
        {
            *driver = None;
        }
    }

    async fn exchange(&mut self, request: &mut Option<Request<Full<Bytes>>>) -> Result<Answer, Unanswered> {
        let taken = request.take().expect("it was staged, or put back");
        let mut sending = pin!(self.sender.try_send_request(taken));
        let driver = &mut self.driver;
        let response = poll_fn(|cx| {
            // First the driver: what it reads is what `sending` waits for.
            Self::drive(driver, cx);
            sending.as_mut().poll(cx)
        })
        .await;
        let response: Response<Incoming> = response.map_err(|mut why| match why.take_message() {
            Some(unsent) => {
                *request = Some(unsent);
                Unanswered::Unsent
            }
            None => Unanswered::Failed(failure(why.error())),
        })?;
        let status = response.status().as_u16();
        let body = self.body(response.into_body()).await.map_err(Unanswered::Failed)?;
        // The driver has to come to rest, so that the connection is free for the next request.
        if !self.sender.is_ready() {
            poll_fn(|cx| {
                Self::drive(&mut self.driver, cx);
                if self.driver.is_none() || self.sender.is_ready() { Poll::Ready(()) } else { Poll::Pending }
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
                Self::drive(&mut self.driver, cx);
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
        f.debug_struct("Open").field("ended", &self.driver.is_none()).finish_non_exhaustive()
    }
}

fn failure(why: &hyper::Error) -> Failure {
    if why.is_parse() { Failure::NotHttp } else { Failure::Closed }
}
