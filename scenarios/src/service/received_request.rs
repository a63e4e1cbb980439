use std::io;
use std::net::TcpStream;
use std::time::{Duration, SystemTime};

/// A request that a [`RecordingServer`](super::RecordingServer) received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReceivedRequest {
    /// When its last byte arrived, since the Unix epoch.
    pub(super) arrived: Duration,
    /// Method and target, such as `GET /v1/verdict/x`.
    pub(super) line: String,
    /// The body.
    pub(super) body: Vec<u8>,
}

/// Largest request.
const LARGEST: usize = 1 << 20;
/// End of the head of a request.
const HEAD_END: &[u8] = b"\r\n\r\n";

impl ReceivedRequest {
    /// Reads the next request. `None` at the end of the connection, and for input that is no request with a
    /// `Content-Length`.
    pub(super) fn read(stream: &TcpStream, buffer: &mut Vec<u8>) -> Option<Self> {
        buffer.clear();
        let mut chunk = [0; 16 * 1024];
        loop {
            let (length, arrived) = receive(stream, &mut chunk).ok()?;
            if length == 0 || buffer.len() > LARGEST {
                return None;
            }
            buffer.extend_from_slice(&chunk[..length]);
            let Some(end) = buffer.windows(HEAD_END.len()).position(|window| window == HEAD_END) else {
                continue;
            };
            let head = std::str::from_utf8(&buffer[..end]).ok()?;
            let body = end + HEAD_END.len();
            if buffer.len() >= body + content_length(head)? {
                let line = head.lines().next()?.rsplit_once(' ')?.0.to_owned();
                return Some(Self { arrived, line, body: buffer[body..].to_vec() });
            }
        }
    }
}

/// The time by the clock of the kernel's timestamps.
pub(super) fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the clock is later than 1970")
}

/// Requests a timestamp for everything that arrives on a listener's connections.
#[cfg(target_os = "linux")]
pub(super) fn request_timestamps(listener: &std::net::TcpListener) -> io::Result<()> {
    nix::sys::socket::setsockopt(listener, nix::sys::socket::sockopt::ReceiveTimestampns, &true)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn request_timestamps(_: &std::net::TcpListener) -> io::Result<()> {
    Ok(())
}

/// Reads what has arrived, and when the kernel received its last byte. Waits at least for one byte.
#[cfg(target_os = "linux")]
fn receive(stream: &TcpStream, buffer: &mut [u8]) -> io::Result<(usize, Duration)> {
    use std::os::fd::AsRawFd as _;

    use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
    use nix::sys::time::TimeSpec;

    let mut space = nix::cmsg_space!(TimeSpec);
    let mut parts = [io::IoSliceMut::new(buffer)];
    let message = loop {
        match recvmsg::<()>(stream.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::empty()) {
            Err(nix::errno::Errno::EINTR) => {}
            received => break received?,
        }
    };
    let stamp = message.cmsgs()?.find_map(|control| match control {
        ControlMessageOwned::ScmTimestampns(stamp) => Some(Duration::from(stamp)),
        _ => None,
    });
    let length = message.bytes;
    // Without a timestamp the time of reading is the closest one.
    Ok((length, stamp.unwrap_or_else(now)))
}

#[cfg(not(target_os = "linux"))]
fn receive(mut stream: &TcpStream, buffer: &mut [u8]) -> io::Result<(usize, Duration)> {
    let length = io::Read::read(&mut stream, buffer)?;
    Ok((length, now()))
}

/// The length of the body; `None` if the header is invalid.
fn content_length(head: &str) -> Option<usize> {
    let header = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim())
    });
    header.map_or(Some(0), |value| value.parse().ok())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn request_in_pieces_is_read_with_the_time_of_its_last_piece() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        request_timestamps(&listener).unwrap();
        let read = |server: &TcpStream| ReceivedRequest::read(server, &mut Vec::new());
        let attempt = || {
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let server = listener.accept().unwrap().0;
            client.write_all(b"POST /v1/signals HTTP/1.1\r\ncontent-LENGTH: 4\r\n\r\nab").unwrap();
            let between = now();
            client.write_all(b"cd").unwrap();
            let after = now();
            let request = read(&server).unwrap();
            assert_eq!((&*request.line, &*request.body), ("POST /v1/signals", &b"abcd"[..]));
            drop(client);
            assert_eq!(read(&server), None);
            // Reading late changes nothing where the kernel stamps what arrives.
            !cfg!(target_os = "linux") || (between..=after).contains(&request.arrived)
        };
        // It begins to stamp some time after the request. Rarely it stamps no second piece of a connection.
        assert!((0..10_000).any(|_| attempt()), "no stamp is that of the last piece");
    }
}
