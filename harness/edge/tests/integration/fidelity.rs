use std::sync::Arc;

use bytes::Bytes;
use edgeproof_fixtures::credentials::{LicenseForm, Role, Secret};
use edgeproof_http::{Body, Draft};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rstest::rstest;

use crate::support::{Fixture, OK, SIGNALS, check, draft, post};

#[tokio::test(flavor = "multi_thread")]
async fn any_body_is_relayed_once_and_unchanged() {
    let fixture = Arc::new(Fixture::new().await);
    let _accept = fixture.scripted(200, OK);
    let runtime = tokio::runtime::Handle::current();
    let property = tokio::task::spawn_blocking(move || {
        let framing = prop_oneof![Just(None), (1_usize..400).prop_map(Some)];
        let body = prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..3000),
            ".{0,400}".prop_map(String::into_bytes),
        ];
        TestRunner::new(Config::with_cases(96)).run(&(body, framing), |(body, framing)| {
            let bytes = Bytes::from(body);
            let framed = match framing {
                None => Body::Sized(bytes.clone()),
                Some(size) => Body::Chunked(bytes.clone(), size),
            };
            let mark = fixture.service.mark();
            let answer = runtime.block_on(fixture.send(&draft("POST", SIGNALS).body(framed)));
            prop_assert_eq!(answer.status, 200);
            let arrivals = fixture.service.arrivals_since(mark);
            prop_assert_eq!(arrivals.len(), 1);
            prop_assert_eq!(&arrivals[0].request.body, &bytes);
            prop_assert!(arrivals[0].request.complete);
            Ok(())
        })
    });
    property.await.unwrap().unwrap();
}

#[rstest]
#[case::within_the_limit(1024 * 1024)]
#[case::largest_in_memory(1024 * 1024 + 64 * 1024)]
#[case::streamed(3 * 1024 * 1024)]
#[tokio::test]
async fn large_body_is_relayed(#[case] size: usize, #[values(false, true)] chunked: bool) {
    let fixture = Fixture::new().await;
    let _accept = fixture.scripted(200, OK);
    let body: Bytes = (0..size).map(|i| (i % 251) as u8).collect();
    let framed = if chunked { Body::Chunked(body.clone(), 60_000) } else { Body::Sized(body.clone()) };
    check(&fixture.send(&draft("POST", SIGNALS).body(framed)).await, 200, OK);
    let arrivals = fixture.service.journal();
    assert_eq!(arrivals.len(), 1);
    assert!(arrivals[0].request.body == body, "the body differs");
}

#[tokio::test]
async fn body_with_expect_is_relayed() {
    let fixture = Fixture::new().await;
    let _accept = fixture.scripted(200, OK);
    let expecting = draft("POST", SIGNALS).body(Body::Expect(Bytes::from_static(b"held back")));
    check(&fixture.send(&expecting).await, 200, OK);
    assert_eq!(&fixture.service.journal()[0].request.body[..], b"held back");
}

#[rstest]
#[case::json(Some("application/json"))]
#[case::fetch_of_a_string(Some("text/plain;charset=UTF-8"))]
#[case::none(None)]
#[tokio::test]
async fn content_type_is_relayed_and_user_headers_are_not(#[case] content_type: Option<&str>) {
    let fixture = Fixture::new().await;
    let mut draft = draft("POST", SIGNALS)
        .body(Body::Sized(Bytes::from_static(b"{}")))
        .header("cookie", "canary")
        .header("user-agent", "canary")
        .header("x-forwarded-for", "canary")
        .header("authorization", "Bearer canary");
    if let Some(content_type) = content_type {
        draft = draft.header("content-type", content_type);
    }
    fixture.send(&draft).await;
    let arrival = fixture.service.journal().remove(0);
    let content_type_at_service =
        arrival.request.headers.get("content-type").map(|value| value.to_str().unwrap());
    assert_eq!(content_type_at_service, content_type);
    assert!(!format!("{:?}", arrival.request).contains("canary"));
}

#[tokio::test]
async fn edge_presents_license_and_certificate_over_http2() {
    let fixture = Fixture::new().await;
    fixture.post("{}").await;
    let arrival = fixture.service.journal().remove(0);
    let license = fixture.credentials.license(LicenseForm::Valid);
    let authorization = arrival.request.headers.get("authorization").unwrap();
    assert_eq!(authorization.to_str().unwrap(), format!("Bearer {license}"));
    assert_eq!(
        arrival.client_certificates[0],
        *fixture.credentials.certificate(Role::ClientForLicense).der()
    );
    assert_eq!((arrival.request.method.as_str(), arrival.request.target.as_str()), ("POST", "/v1/relay"));
    assert!(arrival.tls.unwrap().http2);
}

#[rstest]
#[case::no_license(None, "missing_license")]
#[case::not_a_license(Some("not.a.license"), "bad_vendor_prefix")]
#[tokio::test]
async fn invalid_license_is_refused_by_the_service(#[case] license: Option<&str>, #[case] reason: &str) {
    let fixture = Fixture::with(|settings| settings.license = license.map(Secret::new)).await;
    let answer = fixture.post("{}").await;
    check(&answer, 401, &format!(r#"{{"error":"service_rejected","reason":"{reason}","status":401}}"#));
    assert_eq!(fixture.service.journal()[0].request.headers.contains_key("authorization"), license.is_some());
}

#[rstest]
#[case::neither(false, false)]
#[case::certificate_only(true, false)]
#[case::key_only(false, true)]
#[tokio::test]
async fn edge_without_certificate_and_key_presents_no_certificate(#[case] cert: bool, #[case] key: bool) {
    let fixture = Fixture::with(|settings| {
        settings.client_cert_file = settings.client_cert_file.take().filter(|_| cert);
        settings.client_key_file = settings.client_key_file.take().filter(|_| key);
    })
    .await;
    let answer = fixture.post("{}").await;
    check(&answer, 401, r#"{"error":"service_rejected","reason":"client_cert_required","status":401}"#);
    assert!(fixture.service.journal()[0].client_certificates.is_empty());
    assert_eq!(fixture.lines().iter().any(|line| line.contains("no client certificate")), cert != key);
}

#[rstest]
#[case::shorter_than_content_length(&[("content-length", "10")], b"abc")]
#[case::missing_last_chunk(&[("transfer-encoding", "chunked")], b"3\r\nabc\r\n")]
#[case::broken_chunk_size(&[("transfer-encoding", "chunked")], b"zz\r\nabc\r\n0\r\n\r\n")]
#[tokio::test]
async fn broken_body_is_not_relayed(#[case] framing: &[(&str, &str)], #[case] bytes: &'static [u8]) {
    let fixture = Fixture::new().await;
    let mut broken = draft("POST", SIGNALS).body(Body::Broken(Bytes::from_static(bytes)));
    for (name, value) in framing {
        broken = broken.header(name, value);
    }
    check(&fixture.send(&broken).await, 400, crate::support::READ_FAILED);
    assert!(fixture.service.journal().is_empty());
    let _accept = fixture.scripted(200, OK);
    check(&fixture.post("{}").await, 200, OK);
}

#[tokio::test]
async fn broken_streamed_body_is_incomplete_at_the_service() {
    let fixture = Fixture::new().await;
    let _accept = fixture.scripted(200, OK);
    let body = Bytes::from(vec![b'x'; 2 * 1024 * 1024]);
    let broken: Draft = draft("POST", SIGNALS).header("content-length", "4000000").body(Body::Broken(body));
    check(&fixture.send(&broken).await, 400, crate::support::READ_FAILED);
    assert!(fixture.service.journal().iter().all(|arrival| !arrival.request.complete));
    check(&fixture.send(&post("{}")).await, 200, OK);
}
