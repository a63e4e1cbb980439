use std::io::{self, Read as _};
use std::net::TcpStream;
use std::time::{Duration, SystemTime};

use edgeproof_http::receive_time;
use httparse::{EMPTY_HEADER, Request, Status};

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
/// Largest number of header fields.
const FIELDS: usize = 32;

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
            let mut fields = [EMPTY_HEADER; FIELDS];
            let mut request = Request::new(&mut fields);
            let Status::Complete(head) = request.parse(buffer).ok()? else { continue };
            let field =
                request.headers.iter().find(|field| field.name.eq_ignore_ascii_case("content-length"));
            let length = field.map_or(Ok("0"), |field| str::from_utf8(field.value)).ok()?;
            if buffer.len() >= head + length.parse::<usize>().ok()? {
                let line = format!("{} {}", request.method?, request.path?);
                return Some(Self { arrived, line, body: buffer[head..].to_vec() });
            }
        }
    }
}

/// The time by the clock of the kernel's timestamps.
pub(super) fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the clock is later than 1970")
}

/// Reads what has arrived, and when the kernel received its last byte. Waits at least for one byte.
fn receive(mut stream: &TcpStream, buffer: &mut [u8]) -> io::Result<(usize, Duration)> {
    // Receive times are read without waiting.
    stream.peek(&mut [0])?;
    match receive_time::read(stream, buffer) {
        // Without a receive time the time of reading is the closest one.
        Err(why) if why.kind() == io::ErrorKind::Unsupported => Ok((stream.read(buffer)?, now())),
        read => read.map(|(length, received)| (length, received.unwrap_or_else(now))),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn request_in_pieces_is_read_with_the_time_of_its_last_piece() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        receive_time::enable(&listener);
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
