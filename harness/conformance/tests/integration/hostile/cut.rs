//! An edge that closes the connection within its answer, at every byte.

use std::time::Duration;

use edgeproof_http::{Draft, NoAnswer, ServerAddress, send};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::timeout;
use url::Url;

const LIMIT: Duration = Duration::from_secs(20);

#[tokio::test]
async fn truncated_answer_is_never_complete() {
    let body = r#"{"ok":true}"#;
    for head in ["Content-Length: 11\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nb\r\n"] {
        let chunked = head.contains("chunked");
        let end = if chunked { "\r\n0\r\n\r\n" } else { "" };
        let start = format!("HTTP/1.1 200 OK\r\n{head}");
        let body_at = start.len();
        let answer = format!("{start}{body}{end}");
        let head_ends = answer.find("\r\n\r\n").unwrap() + 4;
        for at in 0..=answer.len() {
            let reply = cut(answer.as_bytes()[..at].to_vec()).await;
            match reply {
                Err(NoAnswer::Closed | NoAnswer::Reset) => assert_eq!(at, 0),
                Err(NoAnswer::NotHttp(_)) => assert!((1..head_ends).contains(&at), "{at}"),
                Ok(cut) if at < answer.len() => {
                    assert!(at >= head_ends && !cut.complete, "{at}");
                    assert!(cut.body.len() <= at.saturating_sub(body_at), "{at}");
                }
                Ok(whole) => assert!(whole.complete && whole.body == body, "{at}"),
                Err(other) => panic!("{at}: {other}"),
            }
        }
    }
}

/// Answer of a server that sends these bytes and closes the connection.
async fn cut(bytes: Vec<u8>) -> Result<edgeproof_http::Answer, NoAnswer> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    let endpoint = ServerAddress::resolve(&url, None).await.unwrap();
    let draft = Draft::new("GET", "/health");
    let serve = async {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            client.read_buf(&mut head).await.unwrap();
        }
        client.write_all(&bytes).await.unwrap();
    };
    let both = async { tokio::join!(send(&endpoint, &draft, LIMIT), serve).0.reply };
    timeout(2 * LIMIT, both).await.unwrap()
}
