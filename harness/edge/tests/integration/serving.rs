use std::sync::Arc;

use bytes::Bytes;
use edgeproof_edge::EdgeTls;
use edgeproof_fixtures::credentials::{Credentials, MintOptions, Role};
use edgeproof_http::{Body, ServerAddress, send, send_http2};
use edgeproof_mock::{Action, Match};
use futures_util::future::join_all;
use futures_util::{SinkExt, StreamExt};
use rstest::rstest;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use url::Url;

use crate::support::{
    Fixture, LIMIT, OK, ORIGIN, SIGNALS, answer, check, draft, header, post, reply, script, text,
};

const NOT_ALLOWED: &str = r#"{"error":"method_not_allowed"}"#;

#[rstest]
#[tokio::test]
async fn other_methods_are_refused(
    #[values("GET", "PUT", "PATCH", "DELETE", "TRACE", "BREW")] method: &str,
    #[values(0, 12, 900_000)] body: usize,
) {
    let fixture = Fixture::new().await;
    let mut request = draft(method, SIGNALS);
    if body > 0 {
        request = request.body(Body::Sized(vec![b'x'; body].into()));
    }
    let answer = fixture.send(&request).await;
    check(&answer, 405, NOT_ALLOWED);
    assert_eq!(header(&answer, "allow"), Some("POST, OPTIONS"));
    assert!(fixture.service.journal().is_empty());
}

#[tokio::test]
async fn other_method_with_expect_is_refused_before_the_body() {
    let fixture = Fixture::new().await;
    let answer =
        fixture.send(&draft("PUT", SIGNALS).body(Body::Expect(Bytes::from_static(b"held back")))).await;
    check(&answer, 405, NOT_ALLOWED);
}

#[tokio::test]
async fn head_answer_has_no_body() {
    let fixture = Fixture::new().await;
    check(&fixture.send(&draft("HEAD", SIGNALS)).await, 405, "");
    check(&fixture.send(&draft("HEAD", "/health")).await, 200, "");
}

#[rstest]
#[case::health("/health", 200, OK)]
#[case::health_with_query("/health?deep=1", 200, OK)]
#[case::root("/", 404, r#"{"error":"not_found"}"#)]
#[case::below("/v1/signals/", 404, r#"{"error":"not_found"}"#)]
#[case::no_websocket("/v1/measure", 404, r#"{"error":"not_found"}"#)]
#[tokio::test]
async fn path_selects_the_answer(#[case] path: &str, #[case] status: u16, #[case] body: &str) {
    let fixture = Fixture::new().await;
    let answer = fixture.send(&draft("GET", path)).await;
    check(&answer, status, body);
    assert_eq!(header(&answer, "content-type"), Some("application/json"));
}

#[tokio::test]
async fn post_to_health_is_refused() {
    let fixture = Fixture::new().await;
    let answer = fixture.send(&draft("POST", "/health").body(Body::Sized(Bytes::new()))).await;
    check(&answer, 405, NOT_ALLOWED);
    assert_eq!(header(&answer, "allow"), Some("GET, HEAD"));
}

#[rstest]
#[case::another("https://other.example")]
#[case::prefix("https://shop.example.evil.example")]
#[case::suffix("https://evilshop.example")]
#[case::scheme("http://shop.example")]
#[case::port("https://shop.example:8443")]
#[case::slash("https://shop.example/")]
#[case::capitals("https://SHOP.example")]
#[case::null("null")]
#[tokio::test]
async fn other_origin_gets_no_grant(#[case] origin: &str) {
    let fixture = Fixture::new().await;
    for method in ["OPTIONS", "GET", "POST"] {
        let draft = edgeproof_http::Draft::new(method, SIGNALS)
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .body(Body::Sized(Bytes::new()));
        let answer = fixture.send(&draft).await;
        assert_eq!(answer.status == 405, method == "GET");
        let grants = answer.headers.keys().filter(|name| name.as_str().starts_with("access-control"));
        assert_eq!(grants.count(), 0, "{answer:?}");
        assert_eq!(header(&answer, "vary"), Some("Origin"));
    }
    assert_eq!(fixture.service.journal().len(), 1);
}

#[rstest]
#[case::none(None, "https://shop.example")]
#[case::null(Some("null"), "null")]
#[case::star(Some("*"), "https://shop.example")]
#[tokio::test]
async fn unset_or_unusable_allowed_origin_grants_nothing(
    #[case] allowed: Option<&str>,
    #[case] origin: &str,
) {
    let fixture = Fixture::with(|settings| settings.allowed_origin = allowed.map(str::to_owned)).await;
    let draft = edgeproof_http::Draft::new("OPTIONS", SIGNALS).header("origin", origin);
    let answer = fixture.send(&draft).await;
    assert_eq!(answer.status, 204);
    assert_eq!(header(&answer, "access-control-allow-origin"), None);
    assert_eq!(header(&answer, "vary"), allowed.map(|_| "Origin"));
}

#[tokio::test]
async fn two_origin_headers_get_no_grant() {
    let fixture = Fixture::new().await;
    let answer = fixture.send(&draft("GET", SIGNALS).header("origin", ORIGIN)).await;
    assert_eq!(header(&answer, "access-control-allow-origin"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_get_their_own_answers() {
    let fixture = Arc::new(Fixture::new().await);
    let scripts: Vec<_> = (0..64)
        .map(|n| {
            let marker = Match::Marker(Bytes::from(format!("<{n}>")));
            let reason = format!(r#"{{"reason":"number_{n}"}}"#);
            fixture.service.script(marker, script(answer(400 + n % 50, &reason)))
        })
        .collect();
    let posts = (0..64_u16).map(|n| {
        let fixture = Arc::clone(&fixture);
        tokio::spawn(async move { (n, fixture.post(format!("<{n}>")).await) })
    });
    for done in join_all(posts).await {
        let (n, answer) = done.unwrap();
        let status = 400 + n % 50;
        let body = format!(r#"{{"error":"service_rejected","reason":"number_{n}","status":{status}}}"#);
        check(&answer, status, &body);
    }
    assert!(scripts.iter().all(|script| script.count() == 1));
    assert_eq!(fixture.lines().len(), 64);
}

#[tokio::test]
async fn https_serves_http1_and_http2() {
    let credentials = Credentials::mint(&MintOptions::default()).unwrap();
    let certificate = credentials.certificate(Role::EdgeServer);
    let tls = EdgeTls { chain: certificate.chain_der(), key: certificate.key_der() };
    let fixture = Fixture::with_options(|options| options.tls = Some(tls)).await;
    let _accept = fixture.scripted(200, OK);
    let folder = edgeproof_fixtures::credentials::CredentialFiles::write(&credentials).unwrap();
    let ca = folder.certificate(Role::EdgeAuthority);
    let url = Url::parse(&fixture.edge.url()).unwrap();
    assert_eq!(url.scheme(), "https");
    let endpoint = ServerAddress::resolve(&url, Some(&ca)).await.unwrap();
    check(&send(&endpoint, &post("one"), LIMIT).await.reply.unwrap(), 200, OK);
    check(&send_http2(&endpoint, &post("two"), LIMIT).await.unwrap().reply.unwrap(), 200, OK);
    check(
        &send_http2(&endpoint, &draft("GET", SIGNALS), LIMIT).await.unwrap().reply.unwrap(),
        405,
        NOT_ALLOWED,
    );
    let bodies: Vec<_> = fixture.service.journal().into_iter().map(|arrival| arrival.request.body).collect();
    assert_eq!(bodies, ["one", "two"]);
}

#[tokio::test]
async fn websocket_echoes_until_the_edge_stops() {
    let fixture = Fixture::new().await;
    let tcp = TcpStream::connect(fixture.edge.addr()).await.unwrap();
    let url = format!("ws://{}/v1/measure", fixture.edge.addr());
    let (mut socket, _) = tokio_tungstenite::client_async(url, tcp).await.unwrap();
    for message in [Message::text("ping?"), Message::binary(vec![0, 255, 1]), Message::text("")] {
        socket.send(message.clone()).await.unwrap();
        assert_eq!(socket.next().await.unwrap().unwrap(), message);
    }
    let stopped = tokio::spawn(fixture.edge.stop());
    let Message::Close(Some(frame)) = socket.next().await.unwrap().unwrap() else { panic!("no close") };
    assert_eq!(frame.code, CloseCode::Away);
    assert!(socket.next().await.is_none_or(|end| end.is_err()));
    stopped.await.unwrap();
    assert!(fixture.service.journal().is_empty());
}

#[tokio::test]
async fn stop_finishes_requests_under_way() {
    let fixture = Fixture::new().await;
    let slow =
        edgeproof_mock::Reply { delay: std::time::Duration::from_millis(150), ..reply(answer(200, OK)) };
    let scripted = fixture.service.script(Match::Everything, edgeproof_mock::Script { replies: vec![slow] });
    let Fixture { edge, endpoint, .. } = fixture;
    let addr = edge.addr();
    let under_way = tokio::spawn(async move { send(&endpoint, &post("{}"), LIMIT).await });
    scripted.wait_for(1, LIMIT).await;
    edge.stop().await;
    check(&under_way.await.unwrap().reply.unwrap(), 200, OK);
    assert!(TcpStream::connect(addr).await.is_err());
}

#[tokio::test]
async fn stop_does_not_wait_for_idle_connections() {
    let fixture = Fixture::new().await;
    let _silent = TcpStream::connect(fixture.edge.addr()).await.unwrap();
    let _scripted = fixture.script(Action::Silence);
    let began = std::time::Instant::now();
    fixture.edge.stop().await;
    assert!(began.elapsed() < LIMIT / 4, "{:?}", began.elapsed());
}

#[tokio::test]
async fn errors_are_json() {
    let fixture = Fixture::new().await;
    for draft in [draft("GET", SIGNALS), draft("GET", "/nowhere"), post("not a collection")] {
        let answer = fixture.send(&draft).await;
        assert!(answer.status >= 400);
        assert_eq!(header(&answer, "content-type"), Some("application/json"));
        assert!(serde_json::from_str::<serde_json::Value>(text(&answer)).unwrap().is_object());
    }
}
