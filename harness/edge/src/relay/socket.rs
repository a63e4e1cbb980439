use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::coop::poll_proceed;

/// Cost of a read in tokio's task budget (of 128). If a service floods the edge, for example with interim answers, hyper
/// needs far more time per read than tokio assumes. Without this cost, timers of the thread would fire too late.
const READ_COST: usize = 15;

/// TCP connection that a [`SocketProbe`] can inspect while hyper uses it.
pub(super) struct Socket(Arc<TcpStream>);

/// Inspects a [`Socket`] without keeping it open. Queries the operating system, because the runtime learns of a closed connection later.
#[derive(Debug, Clone)]
pub(super) struct SocketProbe(Weak<TcpStream>);

impl Socket {
    pub(super) fn new(tcp: TcpStream) -> (Self, SocketProbe) {
        let tcp = Arc::new(tcp);
        let probe = SocketProbe(Arc::downgrade(&tcp));
        (Self(tcp), probe)
    }
}

impl SocketProbe {
    /// Whether the connection is open. False if the peer closed its side.
    pub(super) fn is_open(&self) -> bool {
        self.0.upgrade().is_some_and(|tcp| !peer_closed(&tcp))
    }

    /// Whether the connection is open and has no unread bytes. On an idle connection, unread bytes usually announce its
    /// end (TLS alert, GOAWAY).
    pub(super) fn is_quiet(&self) -> bool {
        let Some(tcp) = self.0.upgrade() else { return false };
        let mut byte = [MaybeUninit::uninit()];
        let unread = SockRef::from(&*tcp).peek(&mut byte);
        matches!(unread, Err(error) if error.kind() == io::ErrorKind::WouldBlock) && !peer_closed(&tcp)
    }
}

#[cfg(target_os = "linux")]
fn peer_closed(tcp: &TcpStream) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let mut polled = [PollFd::new(tcp, PollFlags::RDHUP)];
    // poll always reports errors and hang-ups.
    !matches!(poll(&mut polled, Some(&Timespec::default())), Ok(0))
}

#[cfg(not(target_os = "linux"))]
fn peer_closed(tcp: &TcpStream) -> bool {
    // Unread bytes hide the end. A request may then fail, and the edge does not repeat it.
    let mut byte = [MaybeUninit::uninit()];
    match SockRef::from(tcp).peek(&mut byte) {
        Ok(unread) => unread == 0,
        Err(error) => error.kind() != io::ErrorKind::WouldBlock,
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            for _ in 0..READ_COST {
                ready!(poll_proceed(cx)).made_progress();
            }
            ready!(self.0.poll_read_ready(cx))?;
            match self.0.try_read(buffer.initialize_unfilled()) {
                Ok(read) => {
                    buffer.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write_with(cx, |tcp| tcp.try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write_with(cx, |tcp| tcp.try_write_vectored(slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(SockRef::from(&*self.0).shutdown(Shutdown::Write))
    }
}

impl Socket {
    fn write_with(
        &self,
        cx: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            match write(&self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }
}
