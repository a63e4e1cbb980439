use std::io;
use std::net::Ipv4Addr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

/// An edge at `http://localhost` that grants preflights and answers collections with bytes that are no complete answer.
#[derive(Debug)]
pub struct RawServer {
    port: u16,
    accepting: AbortHandle,
}

/// End of a posted collection's exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawReaction {
    /// The connection closes without an answer.
    Close,
    /// The connection is reset.
    Reset,
    /// The head of the answer is cut short.
    HeadCut,
    /// The body of the answer is cut short.
    BodyCut,
    /// The answer is not HTTP.
    Garbage,
}

/// Longest request (bytes).
const LONGEST: usize = 4 * 1024 * 1024;

impl RawServer {
    /// Listens on a free port. Grants `origin`.
    pub async fn start(origin: &str, reaction: RawReaction) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let origin = origin.to_owned();
        let accepting = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let origin = origin.clone();
                connections.spawn(async move { drop(serve(stream, &origin, reaction).await) });
            }
        });
        Ok(Self { port, accepting: accepting.abort_handle() })
    }

    /// `apiUrl` of this edge.
    pub fn url(&self) -> String {
        format!("http://localhost:{}", self.port)
    }
}

impl Drop for RawServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(mut stream: TcpStream, origin: &str, reaction: RawReaction) -> io::Result<()> {
    let mut buffer = Vec::new();
    loop {
        let Some((method, end)) = read_request(&mut stream, &mut buffer).await? else { return Ok(()) };
        buffer.drain(..end);
        match method.as_str() {
            "OPTIONS" => {
                let grant = format!(
                    "HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: {origin}\r\n\
                     Access-Control-Allow-Methods: POST\r\nAccess-Control-Allow-Headers: content-type\r\n\r\n"
                );
                stream.write_all(grant.as_bytes()).await?;
            }
            "POST" => return react(stream, origin, reaction).await,
            _ => stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").await?,
        }
    }
}

async fn react(mut stream: TcpStream, origin: &str, reaction: RawReaction) -> io::Result<()> {
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\
         Access-Control-Allow-Origin: {origin}\r\n\r\n{{\"ok\""
    );
    let bytes = match reaction {
        RawReaction::Close => &b""[..],
        RawReaction::Reset => {
            stream.set_zero_linger()?;
            return Ok(());
        }
        RawReaction::HeadCut => &b"HTTP/1.1 200 OK\r\nContent-Ty"[..],
        RawReaction::BodyCut => answer.as_bytes(),
        RawReaction::Garbage => &b"\x00\xff\xfe not an answer \x01\x02\r\n\r\n"[..],
    };
    stream.write_all(bytes).await?;
    stream.shutdown().await
}

/// Method of the next request in the buffer, and where the request ends. None: the connection ended.
async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Option<(String, usize)>> {
    loop {
        if let Some(head) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let text = String::from_utf8_lossy(&buffer[..head]).into_owned();
            let length = text.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
            });
            let end = head + 4 + length.unwrap_or(0);
            if buffer.len() >= end {
                let method = text.split(' ').next().unwrap_or_default().to_owned();
                return Ok(Some((method, end)));
            }
        }
        if buffer.len() > LONGEST || stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
}
