use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use edgeproof::wire::{Answer, AnswerReader, Connection, Endpoint, NoAnswer, Progress};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::outgoing_request::OutgoingRequest;
use crate::measure::RequestFailure;

/// A user's connection to one endpoint: HTTP/1.1, opened when it is needed, kept as long as it lives.
///
/// It reads with the reader of the conformance cases, not through hyper's client: that takes 25 KB a connection, most of it for
/// a queue of requests that a user never has, and half as much CPU again for each request.
#[derive(Debug)]
pub struct UserConnection {
    endpoint: Arc<Endpoint>,
    open: Option<Connection>,
    /// What is under way. Here and not in futures, each of which would keep a place for it.
    exchange: Option<Exchange>,
}

/// A request and as much of its answer as is there.
#[derive(Debug)]
struct Exchange {
    request: OutgoingRequest,
    written: usize,
    /// What was written is on its way: TLS keeps some of it back until then.
    flushed: bool,
    /// The peer takes no more of it.
    refused: bool,
    reader: AnswerReader,
}

/// A request without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unanswered {
    /// The connection had ended before any of it was sent.
    Unsent,
    Failed(RequestFailure),
}

/// Bytes that are read at once.
const PIECE: usize = 8 * 1024;
/// Pieces that are read before others get their turn.
const TURN: usize = 16;
/// Bytes of an answer's body that are looked at.
const KEPT: usize = 64 * 1024;

impl UserConnection {
    /// One that is not open yet.
    pub fn new(endpoint: Arc<Endpoint>) -> Self {
        Self { endpoint, open: None, exchange: None }
    }

    /// Opens the connection, unless it is open.
    pub async fn open(&mut self) -> Result<(), RequestFailure> {
        if self.open.is_none() {
            self.open = Some(connect(&self.endpoint).await?);
        }
        Ok(())
    }

    /// Takes the request that the next exchange sends. Where the last one was given up half way, the connection goes with it:
    /// its answer may still come.
    pub fn prepare(&mut self, request: OutgoingRequest) {
        if self.exchange.replace(Exchange::new(request)).is_some() {
            self.open = None;
        }
    }

    /// Sends the request that was staged, and reads the answer to its end; over a new connection where the peer has closed the
    /// one that was open, in which case nothing was sent over that. After a failure the connection is gone.
    ///
    /// # Panics
    ///
    /// Without a request.
    pub async fn exchange(&mut self) -> Result<Answer, RequestFailure> {
        let exchange = self.exchange.as_mut().expect("a request was staged");
        if let Some(stream) = &mut self.open {
            match poll_fn(|cx| exchange.advance(stream, cx)).await {
                Err(Unanswered::Unsent) => {}
                answered => return self.end(answered),
            }
        }
        self.open = None;
        // On the heap: every request would take room for what hardly one needs.
        match Box::pin(connect(&self.endpoint)).await {
            Err(failure) => self.end(Err(Unanswered::Failed(failure))),
            Ok(stream) => {
                let stream = self.open.insert(stream);
                let answered = poll_fn(|cx| exchange.advance(stream, cx)).await;
                self.end(answered)
            }
        }
    }

    /// Closes the connection: what is under way on it is given up.
    pub fn close(&mut self) {
        (self.open, self.exchange) = (None, None);
    }

    /// Keeps the connection for the next exchange, where it is fit for one.
    fn end(&mut self, answered: Result<Answer, Unanswered>) -> Result<Answer, RequestFailure> {
        let fit = answered.as_ref().is_ok_and(|answer| {
            self.exchange.as_ref().is_some_and(Exchange::is_clean) && !answer.ends_connection("GET")
        });
        self.exchange = None;
        if !fit {
            self.open = None;
        }
        answered.map_err(|why| match why {
            Unanswered::Failed(failure) => failure,
            Unanswered::Unsent => RequestFailure::Closed,
        })
    }
}

impl Exchange {
    fn new(request: OutgoingRequest) -> Self {
        Self { request, written: 0, flushed: false, refused: false, reader: reader() }
    }

    /// Everything was sent, and nothing came beyond the answer.
    fn is_clean(&self) -> bool {
        self.flushed && !self.reader.has_rest()
    }

    /// Reads what is there and writes what is left to write, until the answer is whole.
    fn advance<S>(&mut self, stream: &mut S, cx: &mut Context<'_>) -> Poll<Result<Answer, Unanswered>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        // First the answer: where the peer has closed in the meantime, nothing is sent; and it may answer before it has read all.
        for _ in 0..TURN {
            match self.read(stream, cx) {
                Poll::Ready(Ok(None)) => {}
                Poll::Ready(Ok(Some(answer))) => return Poll::Ready(Ok(answer)),
                Poll::Ready(Err(unanswered)) => return Poll::Ready(Err(unanswered)),
                Poll::Pending => {
                    if !self.flushed && !self.refused {
                        // A peer that answers early may close its half: what counts is what it answers, if anything.
                        self.refused = ready!(self.write(stream, cx)).is_err();
                    }
                    return Poll::Pending;
                }
            }
        }
        // It sends faster than it can be read, perhaps without end.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn read(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Answer>, Unanswered>> {
        let mut piece = [const { MaybeUninit::uninit() }; PIECE];
        let mut piece = ReadBuf::uninit(&mut piece);
        let read = ready!(Pin::new(stream).poll_read(cx, &mut piece));
        if self.written == 0 {
            // Its end, or bytes that nobody asked for.
            return Poll::Ready(Err(Unanswered::Unsent));
        }
        // TLS without its closing alert ends the stream all the same.
        let ended = match read {
            Ok(()) => piece.filled().is_empty(),
            Err(why) if why.kind() == io::ErrorKind::UnexpectedEof => true,
            Err(_) => return Poll::Ready(Err(Unanswered::Failed(RequestFailure::Closed))),
        };
        if ended {
            let reader = std::mem::replace(&mut self.reader, reader());
            let whole = reader.end().filter(|answer| answer.complete);
            return Poll::Ready(whole.map(Some).ok_or(Unanswered::Failed(RequestFailure::Closed)));
        }
        Poll::Ready(match self.reader.push(piece.filled()) {
            Progress::More => Ok(None),
            Progress::Done(answer) => Ok(Some(answer)),
            Progress::Broken(_) => Err(Unanswered::Failed(RequestFailure::NotHttp)),
        })
    }

    fn write(
        &mut self,
        stream: &mut (impl AsyncWrite + Unpin),
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let mut stream = Pin::new(stream);
        while self.written < self.request.size() {
            let rest = self.request.rest(self.written).map(IoSlice::new);
            match ready!(stream.as_mut().poll_write_vectored(cx, &rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.written += count,
            }
        }
        ready!(stream.poll_flush(cx))?;
        self.flushed = true;
        Poll::Ready(Ok(()))
    }
}

async fn connect(endpoint: &Endpoint) -> Result<Connection, RequestFailure> {
    endpoint.connect(None, &[b"http/1.1"]).await.map_err(|why| match why {
        NoAnswer::NoTls(_) => RequestFailure::Tls,
        _ => RequestFailure::Connect,
    })
}

/// The method matters for HEAD only, which nobody sends.
fn reader() -> AnswerReader {
    AnswerReader::new("GET").keeping(KEPT)
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use bytes::Bytes;
    use tokio::io::{AsyncReadExt, join, repeat, sink};

    use super::*;

    /// With a long answer that is all there to be read, others get their turn all the same.
    #[test]
    fn a_long_answer_is_not_read_at_once() {
        let mut exchange =
            Exchange::new(OutgoingRequest { head: Bytes::from_static(b"x"), body: Bytes::new() });
        (exchange.written, exchange.flushed) = (1, true);
        assert_eq!(exchange.reader.push(b"HTTP/1.1 200 OK\r\n\r\n"), Progress::More);
        let mut cx = Context::from_waker(Waker::noop());
        let mut long = join(repeat(b'x').take(1 << 20), sink());
        assert!(exchange.advance(&mut long, &mut cx).is_pending());
    }
}
