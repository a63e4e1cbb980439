//! How a client ends an upload that it does not complete.

use std::io::ErrorKind;
use std::time::Duration;

use edgeproof_http::{Body, Draft, NoAnswer, ServerAddress, send};
use rstest::rstest;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;
use tokio::time::timeout;

/// Timeout of an exchange.
const LIMIT: Duration = Duration::from_secs(20);
const PART: &[u8] = b"{\"sealed\":";

/// The server reads the part in both forms, and then notices an end or a reset.
#[rstest]
#[case::broken(Body::Broken(PART.into()), Ok(0), NoAnswer::Closed)]
#[case::aborted(Body::Aborted(PART.into()), Err(ErrorKind::ConnectionReset), NoAnswer::Reset)]
#[tokio::test]
async fn server_reads_the_part_and_its_end(
    #[case] body: Body,
    #[case] end: Result<usize, ErrorKind>,
    #[case] reply: NoAnswer,
) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let serving = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut received = Vec::new();
        loop {
            let mut buffer = [0; 1024];
            match stream.read(&mut buffer).await {
                Ok(count) if count > 0 => received.extend_from_slice(&buffer[..count]),
                ended => return (received, ended.map_err(|why| why.kind())),
            }
        }
    };
    let draft = Draft::new("POST", "/").header("Content-Length", "500").body(body);
    let server = ServerAddress::resolve(&url, None).await.unwrap();
    let (sent, served) = tokio::join!(send(&server, &draft, LIMIT), timeout(LIMIT, serving));
    let (received, ended) = served.unwrap();
    assert!(received.ends_with(PART), "{}", String::from_utf8_lossy(&received));
    assert_eq!(ended, end);
    assert_eq!(sent.reply, Err(reply));
}
