use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::upstream::RawHead;

/// Stream whose HTTP/1.1 request heads are changed below hyper, which would not write them so.
pub(super) struct RawHeadStream<S> {
    inner: S,
    change: RawHead,
    /// Bytes that the inner stream has not taken yet.
    pending: Vec<u8>,
}

impl<S> RawHeadStream<S> {
    pub(super) fn new(inner: S, change: RawHead) -> Self {
        Self { inner, change, pending: Vec::new() }
    }
}

impl<S: AsyncWrite + Unpin> RawHeadStream<S> {
    fn drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.pending.is_empty() {
            let written = ready!(Pin::new(&mut self.inner).poll_write(cx, &self.pending))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.pending.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for RawHeadStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

/// Not vectored, so that hyper writes a head in one piece.
impl<S: AsyncWrite + Unpin> AsyncWrite for RawHeadStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.drain(cx))?;
        let head = bytes.windows(4).position(|end| end == b"\r\n\r\n").map_or(0, |end| end + 4);
        let head = if bytes.starts_with(b"POST ") { head } else { 0 };
        let (head, rest) = bytes.split_at(head);
        let head =
            if head.is_empty() { String::new() } else { (self.change)(&String::from_utf8_lossy(head)) };
        self.pending = [head.as_bytes(), rest].concat();
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.drain(cx))?;
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.drain(cx))?;
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
