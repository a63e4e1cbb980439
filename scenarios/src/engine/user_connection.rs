use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use edgeproof_http::{
    Answer, AnswerReader, ClientStream, NoAnswer, ReadProgress, ServerAddress, TimedConnection, transport,
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::outgoing_request::OutgoingRequest;
use crate::measure::{ConnectionTraffic, RequestFailure};

/// A user's keep-alive HTTP/1.1 connection to one endpoint, opened on demand.
///
/// It uses the answer reader of the conformance cases instead of hyper's client. That client takes 25 KB per
/// connection, mostly for a request queue that a user never needs, and 1.5 times the CPU per request.
pub struct UserConnection {
    endpoint: Arc<ServerAddress>,
    open: Option<ClientStream>,
    /// The running request. It lives here because every future would reserve space for it.
    exchange: Option<RunningRequest>,
    /// Times of the last exchange that ended. They are meaningless before the first one.
    pub times: ExchangeTimes,
}

/// A request and the received part of its answer.
struct RunningRequest {
    request: OutgoingRequest,
    written: usize,
    /// All written bytes are flushed: TLS buffers some of them.
    flushed: bool,
    /// The peer does not accept the rest of the request.
    refused: bool,
    /// Bytes received.
    read: usize,
    reader: AnswerReader,
}

/// Why a request has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unanswered {
    /// The connection was closed before any byte was sent.
    Unsent,
    Failed(RequestFailure),
}

/// Bytes per read.
const READ_SIZE: usize = 8 * 1024;
/// Reads before the task yields.
const READS_PER_POLL: usize = 16;
/// Largest stored part of a body (bytes).
pub(super) const MAX_BODY: usize = 4 * 1024 * 1024;

thread_local! {
    /// One buffer for all connections: to initialize a new one costs more than to read a usual answer.
    static READ_BUFFER: RefCell<[u8; READ_SIZE]> = const { RefCell::new([0; READ_SIZE]) };
}

impl UserConnection {
    /// A closed connection.
    pub fn new(endpoint: Arc<ServerAddress>) -> Self {
        Self { endpoint, open: None, exchange: None, times: ExchangeTimes::at(Instant::now()) }
    }

    /// Sets the next request. If the last request was given up, the connection is closed: its answer may
    /// still come.
    pub fn prepare(&mut self, request: OutgoingRequest) {
        if self.exchange.replace(RunningRequest::new(request)).is_some() {
            self.open = None;
        }
    }

    /// Sends the prepared request now, at `sent`, and reads its answer. If the peer has closed the idle
    /// connection, it opens a new one. After a failure the connection is closed.
    ///
    /// # Panics
    ///
    /// Without a prepared request.
    pub async fn exchange(&mut self, sent: Instant) -> Result<Answer, RequestFailure> {
        let exchange = self.exchange.as_mut().expect("a request is prepared");
        self.times = ExchangeTimes::at(sent);
        if let Some(stream) = &mut self.open {
            match poll_fn(|cx| exchange.advance(stream, cx)).await {
                Err(Unanswered::Unsent) => {}
                answered => return self.end(answered),
            }
        }
        self.open = None;
        // Boxed: reconnecting is rare, and its future would enlarge every request's. The box ends with its statement.
        let connected = Box::pin(connect(&self.endpoint)).await;
        match connected {
            Err(failure) => self.end(Err(Unanswered::Failed(failure))),
            Ok(TimedConnection { stream, connect, handshake }) => {
                self.times.set_up_delay = transport(&stream).unread();
                (self.times.traffic.connect, self.times.traffic.tls) = (Some(connect), handshake);
                let stream = self.open.insert(stream);
                let answered = poll_fn(|cx| exchange.advance(stream, cx)).await;
                self.end(answered)
            }
        }
    }

    /// Closes the connection and gives up the running request.
    pub fn close(&mut self) {
        self.note_bytes();
        (self.open, self.exchange) = (None, None);
    }

    fn note_bytes(&mut self) {
        if let Some(exchange) = &self.exchange {
            self.times.traffic.bytes_sent = exchange.written as u64;
            self.times.traffic.bytes_received = exchange.read as u64;
        }
    }

    /// Notes the end. Keeps the connection only if it can be reused.
    fn end(&mut self, answered: Result<Answer, Unanswered>) -> Result<Answer, RequestFailure> {
        let open = self.open.as_ref().filter(|_| answered.is_ok()).map(transport);
        let (read, received) = open.map_or((None, None), |open| (open.read_at(), open.received()));
        self.times.end(received, read.unwrap_or_else(Instant::now));
        self.note_bytes();
        let fit = answered.as_ref().is_ok_and(|answer| {
            self.exchange.as_ref().is_some_and(RunningRequest::is_clean) && !answer.ends_connection("GET")
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

impl RunningRequest {
    fn new(request: OutgoingRequest) -> Self {
        Self { request, written: 0, flushed: false, refused: false, read: 0, reader: reader() }
    }

    /// Whether the request was sent completely and nothing followed the answer.
    fn is_clean(&self) -> bool {
        self.flushed && !self.reader.has_rest()
    }

    /// Reads and writes until the answer is complete.
    fn advance<S>(&mut self, stream: &mut S, cx: &mut Context<'_>) -> Poll<Result<Answer, Unanswered>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        // Read first: nothing is sent on a closed connection, and a peer may answer before it has read the
        // whole request.
        for _ in 0..READS_PER_POLL {
            match self.read(stream, cx) {
                Poll::Ready(Ok(None)) => {}
                Poll::Ready(Ok(Some(answer))) => return Poll::Ready(Ok(answer)),
                Poll::Ready(Err(unanswered)) => return Poll::Ready(Err(unanswered)),
                Poll::Pending => {
                    if !self.flushed && !self.refused {
                        // A peer that answers early may stop reading: its answer counts.
                        self.refused = ready!(self.write(stream, cx)).is_err();
                    }
                    return Poll::Pending;
                }
            }
        }
        // Yield to other tasks: the peer may send faster than we read, without end.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn read(
        &mut self,
        stream: &mut (impl AsyncRead + Unpin),
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Answer>, Unanswered>> {
        READ_BUFFER.with_borrow_mut(|buffer| {
            let mut piece = ReadBuf::new(buffer);
            let read = ready!(Pin::new(stream).poll_read(cx, &mut piece));
            Poll::Ready(self.push(read, piece.filled()))
        })
    }

    /// Takes the result of a read.
    fn push(&mut self, read: io::Result<()>, piece: &[u8]) -> Result<Option<Answer>, Unanswered> {
        if self.written == 0 {
            // The end of the stream, or unexpected bytes.
            return Err(Unanswered::Unsent);
        }
        self.read += piece.len();
        // A TLS stream without a closing alert has ended as well.
        let ended = match read {
            Ok(()) => piece.is_empty(),
            Err(why) if why.kind() == io::ErrorKind::UnexpectedEof => true,
            Err(_) => return Err(Unanswered::Failed(RequestFailure::Closed)),
        };
        if ended {
            let reader = std::mem::replace(&mut self.reader, reader());
            let whole = reader.end().filter(|answer| answer.complete);
            return whole.map(Some).ok_or(Unanswered::Failed(RequestFailure::Closed));
        }
        match self.reader.push(piece) {
            ReadProgress::More => Ok(None),
            ReadProgress::Done(answer) => Ok(Some(answer)),
            ReadProgress::Broken(_) => Err(Unanswered::Failed(RequestFailure::NotHttp)),
        }
    }

    fn write(
        &mut self,
        stream: &mut (impl AsyncWrite + Unpin),
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let mut stream = Pin::new(stream);
        while self.written < self.request.0.len() {
            match ready!(stream.as_mut().poll_write(cx, &self.request.0[self.written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.written += count,
            }
        }
        ready!(stream.poll_flush(cx))?;
        self.flushed = true;
        Poll::Ready(Ok(()))
    }
}

async fn connect(endpoint: &ServerAddress) -> Result<TimedConnection, RequestFailure> {
    endpoint.connect_timed(&[b"http/1.1"]).await.map_err(|why| match why {
        NoAnswer::NoTls(_) => RequestFailure::Tls,
        NoAnswer::NoSocket(_) => RequestFailure::NoSocket,
        _ => RequestFailure::Connect,
    })
}

/// The method matters only for HEAD, which is never sent.
fn reader() -> AnswerReader {
    AnswerReader::new("GET").keeping(MAX_BODY)
}

/// When a request was sent and its answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeTimes {
    /// Start: just before the request was written, or before its connection was opened.
    pub sent: Instant,
    /// When the kernel received the last bytes of the answer. `ended` without an answer, and where the system
    /// does not report it.
    pub received: Instant,
    /// When the answer was read, or the request failed.
    pub ended: Instant,
    /// The part of a TLS handshake in which received bytes were unread.
    pub set_up_delay: Duration,
    /// Set-up of a new connection, and bytes without TLS.
    pub traffic: ConnectionTraffic,
}

impl ExchangeTimes {
    /// Times of an exchange that starts.
    pub(super) fn at(sent: Instant) -> Self {
        let (set_up_delay, traffic) = (Duration::ZERO, ConnectionTraffic::default());
        Self { sent, received: sent, ended: sent, set_up_delay, traffic }
    }

    /// Notes the end. A receive time before the request was sent is wrong: the wall clock is not the kernel's, or it was set.
    pub(super) fn end(&mut self, received: Option<Instant>, ended: Instant) {
        self.ended = ended;
        self.received = received.filter(|received| *received >= self.sent).unwrap_or(ended).min(ended);
    }

    /// The time since `sent` that the generator itself added: it read the answer, or a part of the TLS
    /// handshake, later than the kernel received it.
    pub fn delay(&self) -> Duration {
        self.ended.saturating_duration_since(self.received) + self.set_up_delay
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use rstest::rstest;
    use tokio::io::{AsyncReadExt, join, repeat, sink};

    use super::*;
    use crate::engine::HeaderFields;

    /// A long answer that is fully available must not block other tasks.
    #[test]
    fn long_answer_yields() {
        let mut exchange = RunningRequest::new(HeaderFields::new([]).unwrap().get("/"));
        (exchange.written, exchange.flushed) = (1, true);
        assert_eq!(exchange.reader.push(b"HTTP/1.1 200 OK\r\n\r\n"), ReadProgress::More);
        let mut cx = Context::from_waker(Waker::noop());
        let mut long = join(repeat(b'x').take(1 << 20), sink());
        assert!(exchange.advance(&mut long, &mut cx).is_pending());
    }

    /// Times in ms. Sent at 10 ms, ended at 20 ms.
    #[rstest]
    #[case::late_read(Some(13), 0, 7)]
    #[case::unknown(None, 0, 0)]
    #[case::before_it_was_sent(Some(5), 0, 0)]
    #[case::after_the_end(Some(21), 0, 0)]
    #[case::late_handshake(Some(19), 2, 3)]
    fn delay_is_late_reads(#[case] received: Option<u64>, #[case] handshake: u64, #[case] delay: u64) {
        let ms = Duration::from_millis;
        let start = Instant::now();
        let mut times = ExchangeTimes::at(start + ms(10));
        times.set_up_delay = ms(handshake);
        times.end(received.map(|received| start + ms(received)), start + ms(20));
        assert_eq!(times.delay(), ms(delay));
    }
}
