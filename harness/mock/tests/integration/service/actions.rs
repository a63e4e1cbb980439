//! Every action of a script, on the wire.

use std::io::ErrorKind;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_mock::{Action, ArrivalAnswer, Match, Reply, Script, When};
use rstest::rstest;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::support::{Bench, LONG, answer, answered, converse, http1, http2, read, script, within};

const REQUEST: &[u8] =
    b"POST /v1/relay HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";

fn without_date(answer: &[u8]) -> String {
    let text = String::from_utf8_lossy(answer);
    text.split_inclusive('\n').filter(|line| !line.starts_with("date: ")).collect()
}

fn cut_body(after: usize) -> Action {
    Action::CutBody { status: 401, body: Bytes::from_static(b"{\"reason\":\"x\"}"), after }
}

/// Bytes on the wire until an orderly end of the stream, and the name of the action in the journal.
#[rstest]
#[case::answer(
    Action::Answer {
        status: 418,
        headers: vec![("X-Tea".into(), "yes".into()), ("X-Tea".into(), "please".into())],
        body: Bytes::from_static(b"short and stout"),
    },
    "HTTP/1.1 418 I'm a teapot\r\nx-tea: yes\r\nx-tea: please\r\nconnection: close\r\ncontent-length: 15\r\n\r\nshort and stout",
    None
)]
#[case::unregistered_status(
    answer(599, ""),
    "HTTP/1.1 599 <none>\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
    None
)]
#[case::raw(
    Action::RawBytes(Bytes::from_static(b"\x00 this is no HTTP")),
    "\x00 this is no HTTP",
    Some(ArrivalAnswer::Partial("raw bytes"))
)]
#[case::cut_body(
    cut_body(5),
    "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: 14\r\n\r\n{\"rea",
    Some(ArrivalAnswer::Partial("body cut"))
)]
#[case::cut_body_at_once(
    cut_body(0),
    "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: 14\r\n\r\n",
    Some(ArrivalAnswer::Partial("body cut"))
)]
#[case::cut_head(
    Action::CutHead,
    "HTTP/1.1 200 OK\r\ncontent-type: applic",
    Some(ArrivalAnswer::Partial("head cut"))
)]
#[case::close(Action::Close, "", Some(ArrivalAnswer::Other("closed")))]
#[tokio::test]
async fn action_ends_the_stream_in_order(
    #[case] action: Action,
    #[case] wire: &str,
    #[case] answer: Option<ArrivalAnswer>,
) {
    let bench = Bench::start().await;
    let scripted = bench.service.script(Match::Everything, script([action]));
    let (read, ended) = converse(&mut bench.connect("http/1.1").await, REQUEST).await;
    // An end without `close_notify` would be an error here.
    ended.unwrap();
    assert_eq!(without_date(&read), wire);
    let arrivals = scripted.wait_for(1, LONG).await;
    assert_eq!(arrivals.len(), 1);
    assert!(arrivals[0].request.complete && arrivals[0].finished);
    match answer {
        Some(_) => {
            assert_eq!(arrivals[0].answer, answer);
            assert_eq!(arrivals[0].answered, None);
        }
        None => assert!(arrivals[0].answered.is_some()),
    }
}

#[tokio::test]
async fn reset_is_a_tcp_reset() {
    let bench = Bench::start().await;
    let scripted = bench.service.script(Match::Everything, script([Action::Reset]));
    let (read, ended) = converse(&mut bench.connect("http/1.1").await, REQUEST).await;
    assert_eq!((read.as_slice(), ended.unwrap_err().kind()), (&b""[..], ErrorKind::ConnectionReset));
    assert_eq!(scripted.wait_for(1, LONG).await[0].answer, Some(ArrivalAnswer::Other("reset")));
}

#[rstest]
#[tokio::test]
async fn silence_lasts_until_the_client_closes(#[values("http/1.1", "h2")] protocol: &str) {
    let bench = Bench::start().await;
    let scripted = bench.service.script(Match::Everything, script([Action::Silence]));
    let mut stream = bench.connect(protocol).await;
    if protocol == "h2" {
        let mut client = http2(stream).await;
        let silence = tokio::spawn(client.send_request(bench.request("\"silent\"")));
        assert_eq!(scripted.wait_for(1, LONG).await[0].answer, Some(ArrivalAnswer::Other("silence")));
        assert!(!silence.is_finished());
        // The connection still serves other requests.
        drop(scripted);
        assert_eq!(answered(client.send_request(bench.request(bench.sealed("r")))).await.0, 200);
        silence.abort();
    } else {
        stream.write_all(REQUEST).await.unwrap();
        assert_eq!(scripted.wait_for(1, LONG).await[0].answer, Some(ArrivalAnswer::Other("silence")));
        // The connection is still open: the client closes its half first.
        stream.shutdown().await.unwrap();
        let mut rest = Vec::new();
        let _ = within(stream.read_to_end(&mut rest)).await;
        assert_eq!(rest, b"");
    }
    // The stop has no request to wait for.
    bench.service.stop().await;
}

#[tokio::test]
async fn decide_answers_as_without_a_script() {
    let bench = Bench::start().await;
    let scripted = bench.service.script(Match::Everything, script([Action::Decide]));
    assert_eq!(
        bench.post("no JSON").await,
        (400, r#"{"error":"invalid_json","reason":"invalid_json"}"#.into())
    );
    assert_eq!(scripted.arrivals()[0].stimulus.unwrap().name(), "body-not-json");
}

#[tokio::test]
async fn answer_is_the_same_over_http2() {
    let bench = Bench::start().await;
    let _scripted = bench.service.script(Match::Everything, script([answer(451, "{\"a\":1}")]));
    let mut client = http2(bench.connect("h2").await).await;
    let response = within(client.send_request(bench.request("{}"))).await.unwrap();
    assert_eq!(response.version(), http::Version::HTTP_2);
    assert_eq!(read(response).await, (451, "{\"a\":1}".into()));
    assert!(bench.service.journal()[0].tls.unwrap().http2);
}

#[rstest]
#[case::some(4)]
#[case::large(200_000)]
#[tokio::test]
async fn cut_body_breaks_only_its_http2_stream(#[case] after: usize) {
    let bench = Bench::start().await;
    let body = Bytes::from(vec![b'x'; 300_000]);
    let cut = Action::CutBody { status: 401, body, after };
    let _scripted = bench.service.script(Match::Marker(Bytes::from_static(b"\"cut\"")), script([cut]));
    let mut client = http2(bench.connect("h2").await).await;
    let response = within(client.send_request(bench.request("\"cut\""))).await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["content-length"]),
        (401, &"300000".parse().unwrap())
    );
    let mut body = response.into_body();
    let mut length = 0;
    let ended = loop {
        match within(http_body_util::BodyExt::frame(&mut body)).await {
            Some(Ok(frame)) => length += frame.data_ref().map_or(0, Bytes::len),
            ended => break ended,
        }
    };
    assert_eq!(length, after);
    assert!(matches!(ended, Some(Err(_))));
    assert_eq!(answered(client.send_request(bench.request(bench.sealed("r")))).await.0, 200);
}

#[rstest]
#[case::raw(Action::RawBytes(Bytes::from_static(b"no frames")))]
#[case::cut_head(Action::CutHead)]
#[case::close(Action::Close)]
#[case::reset(Action::Reset)]
#[tokio::test]
async fn connection_fault_breaks_the_whole_http2_connection(#[case] action: Action) {
    let bench = Bench::start().await;
    let scripted = bench.service.script(Match::Everything, script([action]));
    let mut client = http2(bench.connect("h2").await).await;
    let sent = within(client.send_request(bench.request("{}"))).await;
    assert!(sent.is_err());
    assert!(within(client.send_request(bench.request("{}"))).await.is_err());
    assert_eq!(scripted.arrivals().len(), 1);
    bench.service.stop().await;
}

#[rstest]
#[tokio::test]
async fn early_answer_precedes_the_end_of_the_body(#[values("http/1.1", "h2")] protocol: &str) {
    use hyper::body::Frame;

    let bench = Bench::start().await;
    let reply = Reply { delay: Duration::ZERO, when: When::BeforeBodyEnds, action: answer(413, "early") };
    let scripted =
        bench.service.script(Match::Marker(Bytes::from_static(b"marker")), Script { replies: vec![reply] });
    let (chunks, body) = tokio::sync::mpsc::channel(1);
    let body = futures_util::stream::unfold(body, async |mut body| {
        let chunk: &'static str = body.recv().await?;
        Some((Ok::<_, std::io::Error>(Frame::data(Bytes::from(chunk))), body))
    });
    let body = http_body_util::StreamBody::new(Box::pin(body));
    let stream = bench.connect(protocol).await;
    let request = bench.request("").map(|_| body);
    let io = hyper_util::rt::TokioIo::new(stream);
    let sent = if protocol == "h2" {
        let executor = hyper_util::rt::TokioExecutor::new();
        let (mut client, connection) = hyper::client::conn::http2::handshake(executor, io).await.unwrap();
        tokio::spawn(connection);
        tokio::spawn(async move { client.send_request(request).await })
    } else {
        let (mut client, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
        tokio::spawn(connection);
        tokio::spawn(async move { client.send_request(request).await })
    };
    for chunk in ["{\"mar", "ker\":"] {
        chunks.send(chunk).await.unwrap();
    }
    let response = within(sent).await.unwrap().unwrap();
    assert_eq!(response.status(), 413);
    let arrival = &scripted.arrivals()[0];
    assert!(arrival.answered.is_some() && !arrival.finished);
    chunks.send("1}").await.unwrap();
    drop(chunks);
    assert_eq!(read(response).await.1, "early");
    let arrival = &scripted.wait_for(1, LONG).await[0];
    assert_eq!((arrival.request.body.as_ref(), arrival.request.complete), (&b"{\"marker\":1}"[..], true));
}

#[tokio::test]
async fn delay_affects_only_its_request() {
    let bench = Bench::start().await;
    let slow = Reply { delay: LONG * 100, when: When::AfterBody, action: answer(200, "slow") };
    let scripted =
        bench.service.script(Match::Marker(Bytes::from_static(b"\"slow\"")), Script { replies: vec![slow] });
    let mut client = http2(bench.connect("h2").await).await;
    let held = tokio::spawn(client.send_request(bench.request("\"slow\"")));
    assert_eq!(answered(client.send_request(bench.request(bench.sealed("fast")))).await.0, 200);
    let mut other = http1(bench.connect("http/1.1").await).await;
    assert_eq!(answered(other.send_request(bench.request(bench.sealed("fast")))).await.0, 200);
    assert!(!held.is_finished());
    drop(scripted);
}
