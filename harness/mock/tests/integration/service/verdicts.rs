//! Requests for verdicts: references, lifetimes, methods, scripts and limits.

use std::fmt::Write;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::credentials::ReadTokenForm;
use edgeproof_fixtures::spec::{Stimulus, Version};
use edgeproof_http::Limits;
use edgeproof_mock::{Action, Listen, ListenerMode, Match, NewSession, Ready, ServiceEndpoint};
use http::Method;
use proptest::prelude::{ProptestConfig, any};
use proptest::test_runner::TestRunner;
use rstest::rstest;
use tokio::net::TcpStream;

use super::support::{Bench, answer, answered, converse, http1, script, within};

/// Percent-encodes everything except ASCII letters and digits.
fn encoded(reference: &str) -> String {
    let mut text = String::new();
    for byte in reference.bytes() {
        if byte.is_ascii_alphanumeric() {
            text.push(byte.into());
        } else {
            write!(text, "%{byte:02x}").unwrap();
        }
    }
    text
}

#[test]
fn answer_repeats_the_reference_exactly() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let bench = runtime.block_on(Bench::start());
    let client =
        std::cell::RefCell::new(runtime.block_on(async { http1(bench.connect("http/1.1").await).await }));
    let ask = |path: &str| {
        let client = &mut *client.borrow_mut();
        runtime.block_on(async {
            client.ready().await.unwrap();
            let (status, body) = answered(client.send_request(bench.poll(path))).await;
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            (status, body["ref"].as_str().unwrap().to_owned())
        })
    };
    let config = ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&any::<String>(), |reference| {
            bench.service.reset();
            assert_eq!(ask(&encoded(&reference)), (404, reference.clone()));
            bench.service.add_session(NewSession::new(reference.clone()));
            assert_eq!(ask(&encoded(&reference)), (200, reference));
            Ok(())
        })
        .unwrap();
}

#[rstest]
#[case("order 4711", "order%204711")]
#[case("a/b", "a/b")]
#[case("a/b", "a%2Fb")]
#[case("100%", "100%25")]
#[case("100%", "100%")]
#[case("%41", "%2541")]
#[case("ünï/ço de", "%C3%BCn%C3%AF/%C3%A7o%20de")]
#[case("a+b", "a+b")]
#[case("a?b#c", "a%3Fb%23c")]
#[tokio::test]
async fn reference_of_the_page_fetches_the_verdict(#[case] reference: &str, #[case] path: &str) {
    let bench = Bench::start().await;
    assert_eq!(bench.post(bench.sealed(reference)).await.0, 200);
    let (status, body) = bench.verdict(path).await;
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((status, body["ref"].as_str()), (200, Some(reference)));
}

#[tokio::test]
async fn reference_that_is_not_utf8_matches_no_session() {
    let bench = Bench::start().await;
    bench.service.add_session(NewSession::new("a%FFb"));
    assert_eq!(bench.verdict("a%FFb").await, (404, r#"{"status":"pending","ref":"a%FFb"}"#.into()));
    assert_eq!(bench.verdict("a%25FFb").await.0, 200);
}

#[tokio::test]
async fn verdict_expires_after_two_minutes() {
    let bench = Bench::start().await;
    bench.service.clock().stop();
    bench.service.add_session(NewSession::new("r"));
    let first = bench.verdict("r").await;
    bench.service.clock().advance(Duration::from_secs(120));
    assert_eq!(bench.verdict("r").await, first);
    bench.service.clock().advance(Duration::from_nanos(1));
    let gone = (404, r#"{"status":"pending","ref":"r"}"#.into());
    assert_eq!(bench.verdict("r").await, gone);
    // A new session with the same reference has a new verdict.
    assert_eq!(bench.post(bench.sealed("r")).await.0, 200);
    assert_eq!(bench.verdict("r").await.0, 200);
    bench.service.reset();
    assert_eq!(bench.verdict("r").await, gone);
}

#[tokio::test]
async fn clock_decides_on_token_validity() {
    let bench = Bench::start().await;
    let year = Duration::from_secs(366 * 24 * 60 * 60);
    bench.service.clock().advance(year);
    assert_eq!(bench.verdict("r").await, (401, r#"{"error":"expired"}"#.into()));
    assert_eq!(bench.post("{}").await.0, 401);
    bench.service.clock().set_offset(0);
    bench.service.clock().rewind(year);
    assert_eq!(bench.verdict("r").await, (401, r#"{"error":"not_yet_valid"}"#.into()));
    bench.service.clock().set_offset(0);
    assert_eq!(bench.verdict("r").await.0, 404);
}

#[tokio::test]
async fn added_session_has_its_readiness() {
    let bench = Bench::start().await;
    let year = Duration::from_secs(300 * 24 * 60 * 60);
    bench.service.add_session(NewSession::new("always").ready(Ready::Always));
    bench.service.add_session(NewSession::new("past").ready(Ready::Since(Duration::from_secs(121))));
    bench.service.add_session(NewSession::new("never").ready(Ready::Never));
    bench.service.clock().advance(year);
    let statuses =
        [bench.verdict("always").await.0, bench.verdict("past").await.0, bench.verdict("never").await.0];
    assert_eq!(statuses, [200, 404, 404]);
    let causes: Vec<_> = bench.service.journal().into_iter().filter_map(|arrival| arrival.stimulus).collect();
    assert_eq!(causes, [Stimulus::VerdictReady, Stimulus::VerdictTooOld, Stimulus::VerdictPending]);
}

#[rstest]
#[case(Method::PUT, "/v1/verdict/r", 405, "method_not_allowed")]
#[case(Method::DELETE, "/v1/verdict/r", 405, "method_not_allowed")]
#[case(Method::OPTIONS, "/.well-known/browser-verdict-jwks.json", 405, "method_not_allowed")]
#[case(Method::GET, "/v1/verdict", 404, "not_found")]
#[case(Method::GET, "/", 404, "not_found")]
#[case(Method::POST, "/v1/verdict/r", 400, "unsealed_bundle")]
#[tokio::test]
async fn other_methods_and_paths_are_refused_in_json(
    #[case] method: Method,
    #[case] path: &str,
    #[case] status: u16,
    #[case] error: &str,
) {
    let bench = Bench::start().await;
    let mut request = bench.request("{}");
    *request.method_mut() = method;
    *request.uri_mut() = bench.uri(path).parse().unwrap();
    let answer = bench.send(request).await;
    let body: serde_json::Value = serde_json::from_slice(answer.body()).unwrap();
    assert_eq!((answer.status().as_u16(), body["error"].as_str()), (status, Some(error)));
    let allow = answer.headers().get("allow").map(|value| value.to_str().unwrap());
    assert_eq!(allow, (status == 405).then_some("GET, HEAD"));
    let endpoint = if status == 400 { ServiceEndpoint::Relay } else { ServiceEndpoint::Nothing };
    assert_eq!(bench.service.journal()[0].endpoint, endpoint);
}

#[tokio::test]
async fn script_matches_only_its_endpoint() {
    let bench = Bench::start().await;
    bench.service.add_session(NewSession::new("r"));
    let relayed = bench.service.script(Match::Everything, script([answer(201, "")]));
    assert_eq!((bench.verdict("r").await.0, relayed.count()), (200, 0));
    let all = bench.service.script(Match::Verdicts, script([Action::Decide, answer(503, "")]));
    let one = bench.service.script(Match::VerdictOf("a b".to_owned()), script([answer(418, "")]));
    let keys = bench.service.script(Match::KeySet, script([answer(500, "")]));
    let statuses = [bench.verdict("r").await.0, bench.verdict("a%20b").await.0, bench.verdict("r").await.0];
    assert_eq!(statuses, [200, 418, 503]);
    assert_eq!(bench.get("/.well-known/browser-verdict-jwks.json").await.status(), 500);
    assert_eq!(bench.post("{}").await.0, 201);
    assert_eq!([relayed.count(), all.count(), one.count(), keys.count()], [1, 2, 1, 1]);
    assert!(
        all.arrivals().iter().all(|arrival| arrival.endpoint == ServiceEndpoint::Verdict && arrival.claimed)
    );
}

#[tokio::test]
async fn script_cuts_the_answer_after_its_bytes() {
    let bench = Bench::start().await;
    bench.service.add_session(NewSession::new("r"));
    let _cut = bench.service.script(Match::Verdicts, script([Action::CutDecision { after: 100 }]));
    let authorization = bench.credentials.authorization(ReadTokenForm::Valid).unwrap();
    let request =
        format!("GET /v1/verdict/r HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n\r\n");
    let (cut, _) = converse(&mut bench.connect("http/1.1").await, request.as_bytes()).await;
    assert!(cut.len() == 100 && cut.starts_with(b"HTTP/1.1 200 OK"));
}

#[tokio::test]
async fn second_address_serves_without_tls() {
    let bench = Bench::with(Version::Current, |options| {
        options.plain = Some(Listen::At(([127, 0, 0, 1], 0).into()));
    })
    .await;
    assert!(matches!(bench.service.mode(), ListenerMode::Tls(_)));
    assert_eq!(bench.post(bench.sealed("r")).await.0, 200);
    let plain = bench.service.plain_addr().unwrap();
    let mut client = http1(TcpStream::connect(plain).await.unwrap()).await;
    assert_eq!(answered(client.send_request(bench.poll("r"))).await.0, 200);
    assert_eq!(bench.service.connections_accepted(), 2);
    bench.service.stop().await;
    TcpStream::connect(plain).await.expect_err("stop closes the second address");
}

#[tokio::test]
async fn read_token_of_100_kb_is_answered() {
    let bench = Bench::start().await;
    let mut request = bench.poll("r");
    let bearer = format!("Bearer service_read_v4.public.{}", "A".repeat(100_000));
    request.headers_mut().insert("authorization", bearer.parse().unwrap());
    let refused = bench.send(request).await;
    assert_eq!(refused.status(), 401);
    let body: serde_json::Value = serde_json::from_slice(refused.body()).unwrap();
    assert!(body["error"].is_string() && refused.body().len() < 100);
}

#[tokio::test]
async fn path_of_a_megabyte_ends_only_its_connection() {
    let bench = Bench::start().await;
    let mut stream = bench.connect("http/1.1").await;
    let request = format!("GET /v1/verdict/{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(1 << 20));
    let written = within(tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes())).await;
    let mut answer = Vec::new();
    // The service may reset the connection before the end of the request.
    let ended = within(tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut answer)).await;
    let refused = ["HTTP/1.1 414 ", "HTTP/1.1 431 "].iter().any(|head| answer.starts_with(head.as_bytes()));
    assert!(refused || written.is_err() || ended.is_err(), "{}", String::from_utf8_lossy(&answer));
    assert_eq!(bench.verdict("r").await.0, 404);
}

#[tokio::test]
async fn compressed_body_is_invalid_json() {
    let bench = Bench::start().await;
    let mut request = bench.request(&b"\x1f\x8b\x08\x00\x00\x00\x00\x00"[..]);
    request.headers_mut().insert("content-encoding", "gzip".parse().unwrap());
    let answer = bench.send(request).await;
    let expected = br#"{"error":"invalid_json","reason":"invalid_json"}"#;
    assert_eq!((answer.status().as_u16(), &answer.body()[..]), (400, &expected[..]));
}

#[tokio::test]
async fn slow_body_is_refused_with_408() {
    let limit = Duration::from_millis(20);
    let bench = Bench::with(Version::Current, |options| {
        options.limits = Limits { body: limit, ..options.limits };
    })
    .await;
    let mut stream = bench.connect("http/1.1").await;
    let request = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\n\r\n[1";
    let (answer, _) = converse(&mut stream, request).await;
    let answer = String::from_utf8(answer).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 408 ") && answer.ends_with(r#"{"error":"request_timeout"}"#),
        "{answer}"
    );
    let arrival = &bench.service.journal()[0];
    assert!(arrival.finished && !arrival.request.complete);
    assert_eq!(arrival.request.body, Bytes::from_static(b"[1"));
}

#[tokio::test]
async fn debug_output_hides_read_tokens() {
    let bench = Bench::start().await;
    bench.verdict("r").await;
    let token = bench.credentials.read_token(ReadTokenForm::Valid);
    let shown = format!("{:?} {:?}", bench.service.journal(), bench.service);
    assert!(!shown.contains(&token) && shown.contains("/v1/verdict/r"), "{shown}");
}
