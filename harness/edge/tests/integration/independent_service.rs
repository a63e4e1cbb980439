use bytes::Bytes;
use rstest::rstest;
use serde_json::json;
use wiremock::matchers::{any, body_bytes, header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::support::{OK, check, draft, edge, exchange, plain_settings, post};
use edgeproof_http::Body;

#[tokio::test]
async fn request_to_the_service_has_license_content_type_and_body() {
    let service = MockServer::start().await;
    let body = b"\xef\xbb\xbf{\"a\": 1.0,\r\n \"a\":\t1e400}\x00\xff\n";
    Mock::given(method("POST"))
        .and(path("/v1/relay"))
        .and(header("authorization", "Bearer a-license"))
        .and(header("content-type", "application/json"))
        .and(body_bytes(body))
        .respond_with(ResponseTemplate::new(200))
        .expect(1)
        .mount(&service)
        .await;
    let (_edge, endpoint, log) = edge(plain_settings(&service.uri())).await;
    check(&exchange(&endpoint, &post(Bytes::from_static(body))).await, 200, OK);
    assert_eq!(log.mark(), 0);
}

#[rstest]
#[case::below_a_path("/base", "/base/v1/relay")]
#[case::trailing_slash("/", "/v1/relay")]
#[case::both("/base/", "/base/v1/relay")]
#[tokio::test]
async fn service_url_path_is_a_prefix(#[case] base: &str, #[case] relayed: &str) {
    let service = MockServer::start().await;
    Mock::given(path(relayed)).respond_with(ResponseTemplate::new(200)).expect(1).mount(&service).await;
    let (_edge, endpoint, _) = edge(plain_settings(&format!("{}{base}", service.uri()))).await;
    check(&exchange(&endpoint, &post("{}")).await, 200, OK);
}

#[rstest]
#[case::reason(json!({"reason": "expired"}), "expired")]
#[case::error(json!({"error": "expired"}), "expired")]
#[case::neither(json!({"code": "expired"}), "unknown")]
#[tokio::test]
async fn reason_is_read_from_reason_or_error(#[case] reply: serde_json::Value, #[case] reason: &str) {
    let service = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(401).set_body_json(reply)).mount(&service).await;
    let (_edge, endpoint, log) = edge(plain_settings(&service.uri())).await;
    let expected = format!(r#"{{"error":"service_rejected","reason":"{reason}","status":401}}"#);
    check(&exchange(&endpoint, &post("{}")).await, 401, &expected);
    assert_eq!(log.last(1)[0].text, format!("refused status=401 reason={reason}"));
}

#[tokio::test]
async fn empty_body_is_relayed() {
    let service = MockServer::start().await;
    Mock::given(header("content-length", "0"))
        .and(body_bytes(b""))
        .respond_with(ResponseTemplate::new(200))
        .expect(3)
        .mount(&service)
        .await;
    let (_edge, endpoint, _) = edge(plain_settings(&service.uri())).await;
    for body in [Body::None, Body::Sized(Bytes::new()), Body::Chunked(Bytes::new(), 1)] {
        check(&exchange(&endpoint, &draft("POST", "/v1/signals").body(body)).await, 200, OK);
    }
}
