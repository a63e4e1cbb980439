//! When the kernel received what arrives on a socket.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

pub use self::system::{enable, read};

/// Receive times of the kernel, requested for as long as this value lives. The kernel notes them for no socket
/// until shortly after the first request, so a value should outlive the connections that need them.
#[derive(Debug)]
pub struct ReceiveTimes {
    socket: Option<TcpStream>,
}

/// Timeout for the first receive time.
const LIMIT: Duration = Duration::from_millis(500);

impl ReceiveTimes {
    /// Requests receive times, and waits until the kernel notes them.
    pub fn request() -> Self {
        Self { socket: requested().ok().flatten() }
    }

    /// Whether the system reports receive times. Only Linux does for TCP.
    pub fn are_available(&self) -> bool {
        self.socket.is_some()
    }
}

/// A socket that got a receive time; `None` without one.
fn requested() -> io::Result<Option<TcpStream>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut sender = TcpStream::connect(listener.local_addr()?)?;
    let (receiver, _) = listener.accept()?;
    if !enable(&receiver) {
        return Ok(None);
    }
    let end = Instant::now() + LIMIT;
    while Instant::now() < end {
        io::Write::write_all(&mut sender, b"x")?;
        match read(&receiver, &mut [0]) {
            Ok((_, Some(_))) => return Ok(Some(receiver)),
            Ok(_) => std::thread::yield_now(),
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => std::thread::yield_now(),
            Err(why) => return Err(why),
        }
    }
    Ok(None)
}

#[cfg(target_os = "linux")]
mod system {
    use std::io::{self, IoSliceMut};
    use std::os::fd::{AsFd, AsRawFd};
    use std::time::Duration;

    use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
    use nix::sys::time::TimeSpec;

    /// Size of the header and the time of a control message (bytes): 32 on 64-bit systems.
    const CONTROL_SIZE: usize = 64;

    /// Requests receive times. Returns whether the system has them.
    pub fn enable(socket: &impl AsFd) -> bool {
        setsockopt(socket, sockopt::ReceiveTimestampns, &true).is_ok()
    }

    /// Reads without waiting. Returns the number of bytes, and when the kernel received the last of them (since
    /// the Unix epoch).
    pub fn read(socket: &impl AsRawFd, room: &mut [u8]) -> io::Result<(usize, Option<Duration>)> {
        // On the stack: `cmsg_space!` would allocate for each read.
        let mut control = [0; CONTROL_SIZE];
        let mut parts = [IoSliceMut::new(room)];
        let message =
            recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::MSG_DONTWAIT)?;
        let received = message.cmsgs().ok().and_then(|mut messages| {
            messages.find_map(|message| match message {
                ControlMessageOwned::ScmTimestampns(time) => Some(TimeSpec::into(time)),
                _ => None,
            })
        });
        Ok((message.bytes, received))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::time::Duration;

    /// No other system has receive times for TCP.
    pub fn enable<S>(_: &S) -> bool {
        false
    }

    /// Never called: nothing is enabled.
    pub fn read<S>(_: &S, _: &mut [u8]) -> io::Result<(usize, Option<Duration>)> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn linux_reports_receive_times() {
        assert!(ReceiveTimes::request().are_available());
    }
}
