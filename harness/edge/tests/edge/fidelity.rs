use std::sync::Arc;

use bytes::Bytes;
use edgeproof_fixtures::credentials::{LicenseForm, Role, Secret};
use edgeproof_http::{Body, Draft};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rstest::rstest;

use crate::support::{OK, SIGNALS, World, check, draft, post};

#[tokio::test(flavor = "multi_thread")]
async fn every_body_arrives_byte_for_byte_once_and_in_one_piece() {
    let world = Arc::new(World::new().await);
    let _accepts = world.scripted(200, OK);
    let runtime = tokio::runtime::Handle::current();
    let proven = tokio::task::spawn_blocking(move || {
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
            let mark = world.service.mark();
            let answer = runtime.block_on(world.send(&draft("POST", SIGNALS).body(framed)));
            prop_assert_eq!(answer.status, 200);
            let arrivals = world.service.arrivals_since(mark);
            prop_assert_eq!(arrivals.len(), 1);
            prop_assert_eq!(&arrivals[0].request.body, &bytes);
            prop_assert!(arrivals[0].request.complete);
            Ok(())
        })
    });
    proven.await.unwrap().unwrap();
}

#[rstest]
#[case::within_the_limit(1024 * 1024)]
#[case::just_kept_in_memory(1024 * 1024 + 64 * 1024)]
#[case::streamed(3 * 1024 * 1024)]
#[tokio::test]
async fn large_bodies_are_relayed_for_the_service_to_judge(
    #[case] size: usize,
    #[values(false, true)] chunked: bool,
) {
    let world = World::new().await;
    let _accepts = world.scripted(200, OK);
    let body: Bytes = (0..size).map(|i| (i % 251) as u8).collect();
    let framed = if chunked { Body::Chunked(body.clone(), 60_000) } else { Body::Sized(body.clone()) };
    check(&world.send(&draft("POST", SIGNALS).body(framed)).await, 200, OK);
    let arrivals = world.service.journal();
    assert_eq!(arrivals.len(), 1);
    assert!(arrivals[0].request.body == body, "the body differs");
}

#[tokio::test]
async fn a_body_is_waited_for_with_and_without_expect() {
    let world = World::new().await;
    let _accepts = world.scripted(200, OK);
    let expecting = draft("POST", SIGNALS).body(Body::Expect(Bytes::from_static(b"held back")));
    check(&world.send(&expecting).await, 200, OK);
    assert_eq!(&world.service.journal()[0].request.body[..], b"held back");
}

#[rstest]
#[case::json(Some("application/json"))]
#[case::fetch_of_a_string(Some("text/plain;charset=UTF-8"))]
#[case::none(None)]
#[tokio::test]
async fn the_content_type_goes_along_and_nothing_of_the_user_does(#[case] content_type: Option<&str>) {
    let world = World::new().await;
    let mut draft = draft("POST", SIGNALS)
        .body(Body::Sized(Bytes::from_static(b"{}")))
        .header("cookie", "canary")
        .header("user-agent", "canary")
        .header("x-forwarded-for", "canary")
        .header("authorization", "Bearer canary");
    if let Some(content_type) = content_type {
        draft = draft.header("content-type", content_type);
    }
    world.send(&draft).await;
    let arrival = world.service.journal().remove(0);
    let given = arrival.request.headers.get("content-type").map(|value| value.to_str().unwrap());
    assert_eq!(given, content_type);
    assert!(!format!("{:?}", arrival.request).contains("canary"));
}

#[tokio::test]
async fn license_and_certificate_are_presented_over_http2() {
    let world = World::new().await;
    world.post("{}").await;
    let arrival = world.service.journal().remove(0);
    let license = world.credentials.license(LicenseForm::Valid);
    let authorization = arrival.request.headers.get("authorization").unwrap();
    assert_eq!(authorization.to_str().unwrap(), format!("Bearer {license}"));
    assert_eq!(arrival.client_certificates[0], *world.credentials.certificate(Role::ClientForLicense).der());
    assert_eq!((arrival.request.method.as_str(), arrival.request.target.as_str()), ("POST", "/v1/relay"));
    assert!(arrival.tls.unwrap().http2);
}

#[rstest]
#[case::no_license(None, "missing_license")]
#[case::not_a_license(Some("not.a.license"), "bad_vendor_prefix")]
#[tokio::test]
async fn the_license_is_for_the_service_to_judge(#[case] license: Option<&str>, #[case] reason: &str) {
    let world = World::with(|settings| settings.license = license.map(Secret::new)).await;
    let answer = world.post("{}").await;
    check(&answer, 401, &format!(r#"{{"error":"service_rejected","reason":"{reason}","status":401}}"#));
    assert_eq!(world.service.journal()[0].request.headers.contains_key("authorization"), license.is_some());
}

#[rstest]
#[case::neither(false, false)]
#[case::certificate_only(true, false)]
#[case::key_only(false, true)]
#[tokio::test]
async fn without_both_files_no_certificate_is_presented(#[case] cert: bool, #[case] key: bool) {
    let world = World::with(|settings| {
        settings.client_cert_file = settings.client_cert_file.take().filter(|_| cert);
        settings.client_key_file = settings.client_key_file.take().filter(|_| key);
    })
    .await;
    let answer = world.post("{}").await;
    check(&answer, 401, r#"{"error":"service_rejected","reason":"client_cert_required","status":401}"#);
    assert!(world.service.journal()[0].client_certificates.is_empty());
    assert_eq!(world.lines().iter().any(|line| line.contains("no client certificate")), cert != key);
}

#[rstest]
#[case::short(&[("content-length", "10")], b"abc")]
#[case::early_chunk_end(&[("transfer-encoding", "chunked")], b"3\r\nabc\r\n")]
#[case::broken_chunk_size(&[("transfer-encoding", "chunked")], b"zz\r\nabc\r\n0\r\n\r\n")]
#[tokio::test]
async fn of_a_broken_body_nothing_is_relayed(#[case] framing: &[(&str, &str)], #[case] bytes: &'static [u8]) {
    let world = World::new().await;
    let mut broken = draft("POST", SIGNALS).body(Body::Broken(Bytes::from_static(bytes)));
    for (name, value) in framing {
        broken = broken.header(name, value);
    }
    check(&world.send(&broken).await, 400, crate::support::READ_FAILED);
    assert!(world.service.journal().is_empty());
    let _accepts = world.scripted(200, OK);
    check(&world.post("{}").await, 200, OK);
}

#[tokio::test]
async fn a_long_body_that_breaks_on_its_way_is_never_taken_for_whole() {
    let world = World::new().await;
    let _accepts = world.scripted(200, OK);
    let body = Bytes::from(vec![b'x'; 2 * 1024 * 1024]);
    let broken: Draft = draft("POST", SIGNALS).header("content-length", "4000000").body(Body::Broken(body));
    check(&world.send(&broken).await, 400, crate::support::READ_FAILED);
    assert!(world.service.journal().iter().all(|arrival| !arrival.request.complete));
    check(&world.send(&post("{}")).await, 200, OK);
}
