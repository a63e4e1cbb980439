//! Long polls with `waitMs`. The tests move the clock instead of waiting.

use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::ReadTokenForm;
use edgeproof_mock::{MockService, NewSession, Ready};
use http_body_util::Full;
use rstest::rstest;
use tokio::io::AsyncWriteExt;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use super::support::{Bench, LONG, answered, converse, http1, http2, read};

/// A poll with the maximum wait, which exceeds [`LONG`].
const WAIT: &str = "r?waitMs=30000";

async fn waiting(service: &MockService, count: usize) {
    timeout(LONG, service.polls().wait_for(|waiting| *waiting == count)).await.unwrap().unwrap();
}

/// A poll on a new connection, which waits when this returns.
async fn poll(bench: &Bench, path: &str) -> JoinHandle<(u16, Bytes)> {
    let before = *bench.service.polls().borrow();
    let mut client = http1(bench.connect("http/1.1").await).await;
    let request = bench.poll(path);
    let poll = tokio::spawn(async move { answered(client.send_request(request)).await });
    waiting(&bench.service, before + 1).await;
    poll
}

async fn end(poll: JoinHandle<(u16, Bytes)>) -> (u16, Bytes) {
    timeout(LONG, poll).await.expect("it ends").unwrap()
}

fn pending() -> (u16, Bytes) {
    (404, r#"{"status":"pending","ref":"r"}"#.into())
}

#[tokio::test]
async fn poll_ends_when_the_collection_is_accepted() {
    let bench = Bench::start().await;
    let (one, two) = (poll(&bench, WAIT).await, poll(&bench, WAIT).await);
    let other = poll(&bench, "other?waitMs=30000").await;
    assert_eq!(bench.post(bench.sealed("r")).await.0, 200);
    let (one, two) = (end(one).await, end(two).await);
    assert_eq!((one.0, &one), (200, &two));
    assert_eq!(bench.verdict("r").await, one);
    waiting(&bench.service, 1).await;
    assert!(!other.is_finished());
    other.abort();
    waiting(&bench.service, 0).await;
}

#[tokio::test]
async fn poll_ends_when_the_verdict_is_ready() {
    let bench = Bench::start().await;
    bench.service.set_verdict_delay(Duration::from_secs(20));
    assert_eq!(bench.post(bench.sealed("r")).await.0, 200);
    let polled = poll(&bench, WAIT).await;
    bench.service.clock().advance(Duration::from_secs(19));
    bench.service.clock().advance(Duration::from_secs(2));
    assert_eq!(end(polled).await.0, 200);
    // Real time ends the wait as well.
    bench.service.add_session(NewSession::new("soon").ready(Ready::After(Duration::from_millis(30))));
    let answer = timeout(LONG, bench.verdict("soon?waitMs=30000")).await.unwrap();
    assert_eq!(answer.0, 200);
    let polled = NewSession::new("polled").ready(Ready::AfterFirstPoll(Duration::from_millis(30)));
    bench.service.add_session(polled);
    let answer = timeout(LONG, bench.verdict("polled?waitMs=30000")).await.unwrap();
    assert_eq!(answer.0, 200);
}

#[rstest]
#[case::maximum("r?waitMs=30000", 29_999)]
#[case::clamped("r?waitMs=99999999999999999999", 29_999)]
#[case::less("r?waitMs=5000", 4_999)]
#[tokio::test]
async fn poll_ends_when_its_time_is_over(#[case] path: &str, #[case] almost: u64) {
    let bench = Bench::start().await;
    bench.service.clock().stop();
    let polled = poll(&bench, path).await;
    bench.service.clock().advance(Duration::from_millis(almost));
    tokio::task::yield_now().await;
    assert!(!polled.is_finished());
    bench.service.clock().advance(Duration::from_millis(1));
    assert_eq!(end(polled).await, pending());
    // The machine's clock ends it as well, while the service's clock is stopped.
    assert_eq!(timeout(LONG, bench.verdict("r?waitMs=20")).await.unwrap(), pending());
}

#[tokio::test]
async fn invalid_wait_and_refused_token_are_answered_at_once() {
    let bench = Bench::start().await;
    for query in ["", "?waitMs=0", "?waitMs=-1", "?waitMs=soon", "?waitMs="] {
        assert_eq!(bench.verdict(&format!("r{query}")).await, pending());
    }
    for form in [ReadTokenForm::Missing, ReadTokenForm::Expired] {
        assert_eq!(bench.send(bench.poll_as(form, WAIT)).await.status(), 401);
    }
    bench.service.set_read_outage(Some(edgeproof_mock::ReadOutage::CheckFails));
    assert_eq!(bench.verdict(WAIT).await.0, 401);
}

#[tokio::test]
async fn foreign_session_and_expired_verdict_wait_like_unknown_ones() {
    let bench = Bench::start().await;
    bench.service.clock().stop();
    bench.service.add_session(NewSession::new("r").license_id(bench.credentials.other_license_id()));
    let other = poll(&bench, WAIT).await;
    bench.service.clock().advance(Duration::from_secs(30));
    assert_eq!(end(other).await, pending());
    bench.service.add_session(NewSession::new("r"));
    bench.service.clock().advance(Duration::from_secs(121));
    let old = poll(&bench, WAIT).await;
    bench.service.add_session(NewSession::new("r"));
    assert_eq!(end(old).await.0, 200);
}

#[tokio::test]
async fn poll_ends_when_the_client_leaves() {
    let bench = Bench::start().await;
    let request = head(&bench, WAIT);
    let mut stream = bench.connect("http/1.1").await;
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    waiting(&bench.service, 1).await;
    drop(stream);
    waiting(&bench.service, 0).await;

    let mut client = http2(bench.connect("h2").await).await;
    let one = tokio::spawn(client.send_request(bench.poll(WAIT)));
    let two = tokio::spawn(client.send_request(bench.poll(WAIT)));
    waiting(&bench.service, 2).await;
    one.abort();
    waiting(&bench.service, 1).await;
    // The connection still serves other requests.
    assert_eq!(answered(client.send_request(bench.poll("r"))).await, pending());
    two.abort();
    drop(client);
    waiting(&bench.service, 0).await;
}

#[tokio::test]
async fn client_that_closes_its_half_is_answered_at_once() {
    let bench = Bench::start().await;
    let mut stream = bench.connect("http/1.1").await;
    stream.write_all(head(&bench, WAIT).as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let (answer, _) = converse(&mut stream, b"").await;
    assert!(answer.starts_with(b"HTTP/1.1 404 "), "{}", String::from_utf8_lossy(&answer));
}

#[tokio::test]
async fn pipelined_request_behind_a_poll_is_answered() {
    let bench = Bench::start().await;
    let second = head(&bench, "second").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let both = head(&bench, WAIT) + &second;
    let mut stream = bench.connect("http/1.1").await;
    let answers = tokio::spawn(async move { converse(&mut stream, both.as_bytes()).await.0 });
    waiting(&bench.service, 1).await;
    bench.service.add_session(NewSession::new("r"));
    let answers = String::from_utf8(timeout(LONG, answers).await.unwrap().unwrap()).unwrap();
    assert!(answers.starts_with("HTTP/1.1 200 ") && answers.contains(r#""ref":"second"}"#), "{answers}");
}

#[tokio::test]
async fn stopping_service_answers_polls_at_once() {
    let bench = Bench::start().await;
    let polled = poll(&bench, WAIT).await;
    let ((), answer) = tokio::join!(bench.service.stop(), end(polled));
    assert_eq!(answer, pending());
}

#[tokio::test]
async fn thousand_aborted_polls_leave_no_waiter() {
    let bench = Bench::start().await;
    let mut clients = Vec::new();
    let mut polls = JoinSet::new();
    for connection in 0..8 {
        let mut client = http2(bench.connect("h2").await).await;
        for number in 0..125 {
            let reference = if number % 2 == 0 { WAIT.to_owned() } else { format!("{connection}-{WAIT}") };
            polls.spawn(client.send_request(bench.poll(&reference)));
        }
        clients.push(client);
    }
    waiting(&bench.service, 1000).await;
    // Half of them leave with their connection, the others with their stream, some during the answer.
    clients.truncate(4);
    bench.service.add_session(NewSession::new("r"));
    polls.abort_all();
    waiting(&bench.service, 0).await;
    drop(clients);
    assert_eq!(bench.verdict("r").await.0, 200);
}

#[tokio::test]
async fn head_request_has_the_length_and_no_body() {
    let bench = Bench::start().await;
    bench.service.add_session(NewSession::new("r"));
    let expected = bench.verdict("r").await.1;
    for protocol in ["http/1.1", "h2"] {
        let mut request = bench.poll(WAIT).map(|_| Full::<Bytes>::default());
        *request.method_mut() = http::Method::HEAD;
        let stream = bench.connect(protocol).await;
        let answer = if protocol == "h2" {
            timeout(LONG, http2(stream).await.send_request(request)).await
        } else {
            timeout(LONG, http1(stream).await.send_request(request)).await
        };
        let answer = answer.unwrap().unwrap();
        assert_eq!(answer.headers()["content-length"], expected.len().to_string(), "{protocol}");
        assert_eq!(read(answer).await, (200, Bytes::new()));
    }
}

/// Bytes of a request.
fn head(bench: &Bench, path: &str) -> String {
    let authorization = bench.credentials.authorization(ReadTokenForm::Valid).unwrap();
    format!("GET /v1/verdict/{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n\r\n")
}
