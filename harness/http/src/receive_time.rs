//! Receive times of the kernel. Only Linux reports them for TCP.

use std::io;
use std::time::Duration;

use tokio::net::TcpStream;

/// Requests receive times. Returns whether the system has them.
#[cfg(target_os = "linux")]
pub(super) fn enable(tcp: &TcpStream) -> bool {
    use nix::sys::socket::{setsockopt, sockopt};
    setsockopt(tcp, sockopt::ReceiveTimestampns, &true).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn enable(_: &TcpStream) -> bool {
    false
}

/// Reads without waiting. Returns the number of bytes, and when the kernel received the last of them (since the
/// Unix epoch).
#[cfg(target_os = "linux")]
pub(super) fn read(tcp: &TcpStream, room: &mut [u8]) -> io::Result<(usize, Option<Duration>)> {
    use std::io::IoSliceMut;
    use std::os::fd::AsRawFd;

    use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
    use nix::sys::time::TimeSpec;

    // On the stack: `cmsg_space!` would allocate for each read.
    let mut control = [0; CONTROL_SIZE];
    let mut parts = [IoSliceMut::new(room)];
    let message = recvmsg::<()>(tcp.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::MSG_DONTWAIT)?;
    let received = message.cmsgs().ok().and_then(|mut messages| {
        messages.find_map(|message| match message {
            ControlMessageOwned::ScmTimestampns(time) => Some(TimeSpec::into(time)),
            _ => None,
        })
    });
    Ok((message.bytes, received))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn read(tcp: &TcpStream, room: &mut [u8]) -> io::Result<(usize, Option<Duration>)> {
    Ok((tcp.try_read(room)?, None))
}

/// Size of the header and the time of a control message (bytes): 32 on 64-bit systems.
#[cfg(target_os = "linux")]
const CONTROL_SIZE: usize = 64;
