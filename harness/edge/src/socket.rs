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

/// What a read takes of a task's budget, of which 128 are there: a service that floods, with interim answers for one, costs
/// hyper far more for each read than tokio assumes, and meanwhile no timer of this thread goes off.
const COST_OF_A_READ: usize = 15;

/// A TCP connection that can be looked at from outside while hyper reads and writes it.
pub(super) struct Socket(Arc<TcpStream>);

/// A look at a [`Socket`]. It does not keep the connection open.
#[derive(Debug, Clone)]
pub(super) struct Watch(Weak<TcpStream>);

impl Socket {
    pub(super) fn new(tcp: TcpStream) -> (Self, Watch) {
        let tcp = Arc::new(tcp);
        let watch = Watch(Arc::downgrade(&tcp));
        (Self(tcp), watch)
    }
}

/// The system is asked in both cases: what the runtime has not got round to noticing counts as well.
impl Watch {
    /// The connection is open, as far as the peer has let it be known.
    pub(super) fn is_open(&self) -> bool {
        self.0.upgrade().is_some_and(|tcp| !peer_closed(&tcp))
    }

    /// It is open, and nothing came that is still unread. On an idle connection, what is unread announces its end (a
    /// TLS alert, GOAWAY) more often than anything else.
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
    // Errors and a full hang-up are reported unasked.
    !matches!(poll(&mut polled, Some(&Timespec::default())), Ok(0))
}

#[cfg(not(target_os = "linux"))]
fn peer_closed(tcp: &TcpStream) -> bool {
    // Behind bytes that are unread, the end does not show here: a request may then go out in vain, and is not repeated.
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
            for _ in 0..COST_OF_A_READ {
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
