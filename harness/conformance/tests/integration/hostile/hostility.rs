//! Hostile answers of an edge or a service. Each has a name, which a variable passes to a program.

use std::net::SocketAddr;
use std::sync::LazyLock;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;

/// Text that controls terminals, breaks formats, and runs as a script if it is not escaped.
pub(crate) const EVIL: &str = "\x1b[2J\x1b]0;owned\x07\u{9b}31m<script>alert(1)</script><img src=x onerror=alert(1)>]]>\"'&\r\n::error::owned\n::set-output name=owned::yes\n%0A::add-mask::a\u{202e}</details>\n```\n| a |";

/// Bytes after which an endless answer stops: more than a run may read.
const ENDLESS: usize = 1 << 30;

/// Reads to the end of the request's head, perhaps further.
pub(crate) async fn head(client: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if client.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    Some(head)
}

/// Answers that end quickly, or exceed a size limit.
pub(crate) const QUICK: [&str; 11] = [
    "endless-headers",
    "endless-header",
    "gigabyte",
    "announces-gigabyte",
    "chunk-past-2-64",
    "garbage",
    "invalid-utf8",
    "invalid-utf8-body",
    "deep",
    "many-members",
    "markup",
];

/// Answers that last until the timeout. Their cases run in parallel.
pub(crate) const SLOW: [&str; 6] =
    ["endless-interim", "endless-chunks", "endless-trailers", "drips", "mute", "deaf-mute"];

/// Answers with a hostility and closes the connection.
pub(crate) async fn mistreat(mut client: TcpStream, hostility: &str) {
    let _ = misbehave(&mut client, hostility).await;
    // Reads the rest of the request: otherwise the client gets a reset instead of the answer.
    let _ = client.shutdown().await;
    let _ = tokio::io::copy(&mut client, &mut tokio::io::sink()).await;
}

/// Forwards the connection.
pub(crate) async fn forward(mut client: TcpStream, head: &[u8], inner: SocketAddr) {
    let Ok(mut inner) = TcpStream::connect(inner).await else { return };
    if inner.write_all(head).await.is_ok() {
        let _ = copy_bidirectional(&mut client, &mut inner).await;
    }
}

async fn misbehave(client: &mut TcpStream, hostility: &str) -> std::io::Result<()> {
    let filler = [b'x'; 8 * 1024];
    match hostility {
        "endless-headers" => {
            client.write_all(b"HTTP/1.1 200 OK\r\n").await?;
            let field = format!("X-Flood: {}\r\n", "x".repeat(1000));
            endless(client, field.as_bytes()).await
        }
        "endless-header" => {
            client.write_all(b"HTTP/1.1 200 OK\r\nX-Flood: ").await?;
            endless(client, &filler).await
        }
        "endless-interim" => endless(client, b"HTTP/1.1 100 Continue\r\n\r\n").await,
        "endless-chunks" => {
            client.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await?;
            endless(client, b"1\r\nx\r\n").await
        }
        "endless-trailers" => {
            client.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n").await?;
            endless(client, b"X-Trailer: x\r\n").await
        }
        "gigabyte" => {
            client.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n").await?;
            endless(client, &filler).await
        }
        "endless-refusal" => {
            client.write_all(b"HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\n\r\n{").await?;
            endless(client, &filler).await
        }
        "announces-gigabyte" => {
            client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n").await?;
            endless(client, &filler).await
        }
        "chunk-past-2-64" => {
            let answer =
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\nffffffffffffffff\r\nx";
            client.write_all(answer).await
        }
        "drips" => {
            for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"ok\":true}".iter().cycle() {
                client.write_all(&[*byte]).await?;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            Ok(())
        }
        // One hostility does not read the request.
        "mute" | "deaf-mute" => std::future::pending().await,
        "garbage" => client.write_all(b"\x16\x03\x01\0\xff\xfeSSH-2.0-\x1b[2J\r\n\r\n").await,
        "invalid-utf8" => {
            let head = b"HTTP/1.1 409 \xff\xfe\r\nX-\xc3\xa9: \xff\r\nContent-Type: application/json\r\n";
            client.write_all(head).await
        }
        "invalid-utf8-body" => {
            answer(
                client,
                b"{\"error\":\"service_rejected\",\"reason\":\"\xff\xfe\xed\xa0\x80\",\"status\":409}",
            )
            .await
        }
        "deep" => answer(client, &[b"[".repeat(200_000), b"]".repeat(200_000)].concat()).await,
        "many-members" => {
            static MEMBERS: LazyLock<String> = LazyLock::new(|| {
                (0..150_000).fold(String::new(), |all, n| all + "\"member-" + &n.to_string() + "\":0,")
            });
            answer(client, format!("{{{}\"end\":0}}", *MEMBERS).as_bytes()).await
        }
        "markup" => {
            let evil = serde_json::Value::from(EVIL);
            let body =
                serde_json::json!({"error": evil, "reason": evil, "status": evil, EVIL: {EVIL: [evil]}});
            answer(client, body.to_string().as_bytes()).await
        }
        other => panic!("no such hostility: {other}"),
    }
}

/// A refusal with this body, and with markup in every part of the head.
async fn answer(client: &mut TcpStream, body: &[u8]) -> std::io::Result<()> {
    let markup = "<script>alert(1)</script>%0A::error::owned]]>";
    let head = format!(
        "HTTP/1.1 409 {markup}\r\nX-Evil: {markup}\r\nAllow: {markup}\r\nVary: {markup}\r\n\
         Access-Control-Allow-Origin: {markup}\r\nAccess-Control-Allow-Headers: {markup}\r\n\
         Content-Type: {markup}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    client.write_all(head.as_bytes()).await?;
    client.write_all(body).await
}

async fn endless(client: &mut TcpStream, piece: &[u8]) -> std::io::Result<()> {
    let many = piece.repeat((64 * 1024 / piece.len()).max(1));
    for _ in 0..ENDLESS / many.len() {
        client.write_all(&many).await?;
    }
    Ok(())
}
