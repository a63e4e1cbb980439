use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;

use super::grammar::RequestCheck;

/// Control over the byte stream below hyper. A handler uses it to write bytes that hyper would not write:
/// instead of an HTTP/1.1 answer, or to break a whole HTTP/2 connection.
#[derive(Clone)]
pub struct StreamControl(Arc<Mutex<SharedStream>>);

/// Stream that hyper reads and writes. Dropping it closes the connection, even if a [`StreamControl`] is alive.
pub(super) struct ControlledStream {
    inner: Arc<Mutex<SharedStream>>,
    vectored: bool,
    /// Checks the bytes that hyper reads.
    check: Option<RequestCheck>,
}

/// TCP connection, without or with TLS.
pub(super) type Io = Either<TcpStream, Box<TlsStream<TcpStream>>>;

struct SharedStream {
    io: Option<Io>,
    /// Bytes that were read ahead of hyper.
    ahead: Vec<u8>,
    /// The end of the stream was read, by hyper or ahead of it.
    ended: bool,
    output: OutputMode,
    reader: Option<Waker>,
    written: u64,
    flushed: u64,
    flush_watchers: Vec<Waker>,
}

/// Future that completes when a number of further bytes is flushed, or when the connection ends.
pub struct Flushed {
    inner: Arc<Mutex<SharedStream>>,
    until: u64,
}

#[derive(Clone, Copy)]
enum OutputMode {
    /// Passes on what hyper writes.
    Through,
    /// Passes on this number of bytes, then shuts the stream down.
    Cut(usize),
    /// Drops what hyper writes: the control wrote its own bytes.
    Swallowed,
    /// Drops the answer that hyper writes next, up to its flush, then passes on.
    Replaced {
        /// Hyper wrote a part of the answer.
        began: bool,
    },
}

impl StreamControl {
    /// Writes `bytes` instead of everything that hyper writes from now on, then shuts the stream down: TLS
    /// `close_notify` and TCP FIN. Reading continues. The handler returns an error afterwards, which closes
    /// the connection.
    pub async fn end_with(&self, bytes: Bytes) -> io::Result<()> {
        self.end_with_pieces(vec![bytes]).await
    }

    /// Does the same as [`Self::end_with`], and flushes each piece separately.
    pub async fn end_with_pieces(&self, pieces: Vec<Bytes>) -> io::Result<()> {
        self.write_pieces(pieces).await?;
        poll_fn(|cx| self.0.lock().io()?.poll_shutdown(cx)).await
    }

    /// Writes pieces in place of the answer that hyper writes next, each flushed separately. The connection stays open.
    /// For HTTP/1.1 handlers, whose own answer then has no body.
    pub async fn replace_answer(&self, pieces: Vec<Bytes>) -> io::Result<()> {
        self.write_pieces(pieces).await?;
        self.0.lock().output = OutputMode::Replaced { began: false };
        Ok(())
    }

    /// Writes pieces instead of everything that hyper writes from now on.
    async fn write_pieces(&self, pieces: Vec<Bytes>) -> io::Result<()> {
        // Lets hyper flush the previous answer first.
        tokio::task::yield_now().await;
        self.0.lock().output = OutputMode::Swallowed;
        for (number, piece) in pieces.iter().enumerate() {
            // Without a pause the peer may read the pieces together.
            if number % PIECES_BETWEEN_PAUSES == 1 {
                tokio::time::sleep(PIECE_PAUSE).await;
            }
            let mut rest = &piece[..];
            poll_fn(|cx| {
                let mut inner = self.0.lock();
                let mut io = inner.io()?;
                while !rest.is_empty() {
                    let written = ready!(io.as_mut().poll_write(cx, rest))?;
                    if written == 0 {
                        return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                    }
                    rest = &rest[written..];
                }
                io.poll_flush(cx)
            })
            .await?;
        }
        Ok(())
    }

    /// Lets hyper write this number of further bytes, head included, then shuts the stream down.
    pub fn cut_after(&self, bytes: usize) {
        self.0.lock().output = OutputMode::Cut(bytes);
    }

    /// Resets the TCP connection immediately, without TLS `close_notify`.
    pub fn reset(&self) {
        let mut inner = self.0.lock();
        if let Some(io) = inner.io.take() {
            // If the system refuses the option, the connection closes instead; a test would show that.
            let _ = tcp(&io).set_zero_linger();
        }
        if let Some(reader) = inner.reader.take() {
            reader.wake();
        }
    }

    /// Future that completes when hyper has flushed this number of further bytes.
    pub fn flushed(&self, bytes: usize) -> Flushed {
        let until = self.0.lock().written + bytes as u64;
        Flushed { inner: Arc::clone(&self.0), until }
    }

    /// Waits until the peer shuts down its half of the stream. Discards the bytes that arrive until then. For HTTP/1.1
    /// handlers that have read their request.
    pub async fn peer_closed(&self) {
        let mut scratch = [0; 4096];
        poll_fn(|cx| {
            let mut inner = self.0.lock();
            loop {
                let Ok(io) = inner.io() else { return Poll::Ready(()) };
                let mut buffer = ReadBuf::new(&mut scratch);
                match ready!(io.poll_read(cx, &mut buffer)) {
                    Ok(()) if !buffer.filled().is_empty() => {}
                    _ => return Poll::Ready(()),
                }
            }
        })
        .await;
    }
}

impl StreamControl {
    /// Waits until the peer shuts down its half of the stream. Bytes until then stay readable for hyper.
    /// For HTTP/1.1 handlers that have read their request. Never completes when the peer sends more than a little
    /// ahead.
    pub async fn left(&self) {
        poll_fn(|cx| {
            let mut inner = self.0.lock();
            let mut scratch = [0; 512];
            loop {
                if inner.ended {
                    return Poll::Ready(());
                }
                if inner.ahead.len() >= AHEAD {
                    return Poll::Pending;
                }
                let Ok(io) = inner.io() else { return Poll::Ready(()) };
                let mut buffer = ReadBuf::new(&mut scratch);
                match ready!(io.poll_read(cx, &mut buffer)) {
                    Ok(()) if !buffer.filled().is_empty() => inner.ahead.extend_from_slice(buffer.filled()),
                    _ => inner.ended = true,
                }
            }
        })
        .await;
    }
}

/// Approximate maximum of bytes that are read ahead of hyper.
const AHEAD: usize = 4096;

/// Pause before a piece that is flushed separately.
const PIECE_PAUSE: Duration = Duration::from_millis(1);
/// Many small pieces have a pause only before some of them.
const PIECES_BETWEEN_PAUSES: usize = 32;

impl std::fmt::Debug for StreamControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StreamControl")
    }
}

impl ControlledStream {
    pub(super) fn new(io: Io, check: Option<RequestCheck>) -> (Self, StreamControl) {
        let vectored = io.is_write_vectored();
        let inner = Arc::new(Mutex::new(SharedStream {
            io: Some(io),
            ahead: Vec::new(),
            ended: false,
            output: OutputMode::Through,
            reader: None,
            written: 0,
            flushed: 0,
            flush_watchers: Vec::new(),
        }));
        (Self { inner: Arc::clone(&inner), vectored, check }, StreamControl(inner))
    }
}

impl Drop for ControlledStream {
    fn drop(&mut self) {
        let mut inner = self.inner.lock();
        inner.io = None;
        inner.wake_flush_watchers();
    }
}

impl Future for Flushed {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.inner.lock();
        if inner.io.is_none() || inner.flushed >= self.until {
            return Poll::Ready(());
        }
        inner.flush_watchers.push(cx.waker().clone());
        Poll::Pending
    }
}

impl AsyncRead for ControlledStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let filled = buffer.filled().len();
        let polled = self.read(cx, buffer);
        if let Some(check) = &mut self.check {
            check.push(&buffer.filled()[filled..]);
        }
        polled
    }
}

impl ControlledStream {
    fn read(&self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut inner = self.inner.lock();
        if !inner.ahead.is_empty() {
            let count = inner.ahead.len().min(buffer.remaining());
            buffer.put_slice(&inner.ahead[..count]);
            inner.ahead.drain(..count);
            return Poll::Ready(Ok(()));
        }
        if inner.ended {
            return Poll::Ready(Ok(()));
        }
        let polled = inner.io()?.poll_read(cx, buffer);
        if polled.is_pending() && !inner.reader.as_ref().is_some_and(|reader| reader.will_wake(cx.waker())) {
            inner.reader = Some(cx.waker().clone());
        }
        polled
    }
}

impl AsyncWrite for ControlledStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut inner = self.inner.lock();
        match inner.output {
            OutputMode::Through => {
                let polled = inner.io()?.poll_write(cx, bytes);
                inner.count(polled)
            }
            OutputMode::Cut(0) | OutputMode::Swallowed => Poll::Ready(Ok(bytes.len())),
            OutputMode::Replaced { .. } => {
                inner.output = OutputMode::Replaced { began: true };
                Poll::Ready(Ok(bytes.len()))
            }
            OutputMode::Cut(left) => {
                let written = ready!(inner.io()?.poll_write(cx, &bytes[..left.min(bytes.len())]))?;
                inner.output = OutputMode::Cut(left - written);
                Poll::Ready(Ok(written))
            }
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut inner = self.inner.lock();
        if let OutputMode::Through = inner.output {
            let polled = inner.io()?.poll_write_vectored(cx, slices);
            return inner.count(polled);
        }
        drop(inner);
        let first = slices.iter().find(|slice| !slice.is_empty()).map_or(&[][..], |slice| slice);
        self.poll_write(cx, first)
    }

    fn is_write_vectored(&self) -> bool {
        self.vectored
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut inner = self.inner.lock();
        match inner.output {
            OutputMode::Through | OutputMode::Cut(1..) => {
                ready!(inner.io()?.poll_flush(cx))?;
                inner.flushed = inner.written;
                inner.wake_flush_watchers();
                Poll::Ready(Ok(()))
            }
            OutputMode::Cut(0) => {
                ready!(inner.io()?.poll_flush(cx))?;
                ready!(inner.io()?.poll_shutdown(cx))?;
                inner.output = OutputMode::Swallowed;
                Poll::Ready(Ok(()))
            }
            OutputMode::Replaced { began: true } => {
                inner.output = OutputMode::Through;
                Poll::Ready(Ok(()))
            }
            OutputMode::Swallowed | OutputMode::Replaced { began: false } => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut inner = self.inner.lock();
        match inner.output {
            OutputMode::Swallowed => Poll::Ready(Ok(())),
            _ => inner.io()?.poll_shutdown(cx),
        }
    }
}

impl SharedStream {
    fn count(&mut self, polled: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(written)) = polled {
            self.written += written as u64;
        }
        polled
    }

    fn wake_flush_watchers(&mut self) {
        self.flush_watchers.drain(..).for_each(Waker::wake);
    }

    fn io(&mut self) -> io::Result<Pin<&mut Io>> {
        self.io.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::ConnectionReset.into())
    }
}

fn tcp(io: &Io) -> &TcpStream {
    match io {
        Either::Left(tcp) => tcp,
        Either::Right(tls) => tls.get_ref().0,
    }
}
