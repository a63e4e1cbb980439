//! Replays: the service accepts a collection once.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use edgeproof_fixtures::credentials::{LicenseForm, ReadTokenForm, Role};
use edgeproof_fixtures::seal::{Collection, Measurement};
use edgeproof_fixtures::spec::{Stimulus, Version};
use edgeproof_mock::ServiceOptions;
use rstest::rstest;
use tokio::task::JoinSet;

use super::support::{Bench, answered, connect, http1, http2};

const COPY: &[u8] = br#"{"error":"replayed_bundle","reason":"replayed_bundle"}"#;

#[rstest]
#[tokio::test]
async fn one_of_simultaneous_copies_is_accepted(#[values(false, true)] blocking_threads: bool) {
    let adjust = |options: &mut ServiceOptions| options.verify_on_blocking_threads = blocking_threads;
    let bench = Bench::with(Version::Current, adjust).await;
    for round in 0..8 {
        let body = Bytes::from(bench.sealed(&format!("race {round}")));
        let mut copies = JoinSet::new();
        for _ in 0..4 {
            let mut one = http1(bench.connect("http/1.1").await).await;
            let mut two = http2(bench.connect("h2").await).await;
            let (a, b) = (bench.request(body.clone()), bench.request(body.clone()));
            copies.spawn(async move { answered(one.send_request(a)).await.0 });
            copies.spawn(async move { answered(two.send_request(b)).await.0 });
        }
        let mut statuses = copies.join_all().await;
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409, 409, 409, 409, 409, 409, 409]);
    }
}

#[tokio::test]
async fn copy_is_refused_and_the_first_verdict_stays() {
    let bench = Bench::start().await;
    let body = bench.sealed("r");
    assert_eq!(bench.post(body.clone()).await.0, 200);
    let first = bench.verdict("r").await;
    assert_eq!(first.0, 200);

    assert_eq!(bench.post(body.clone()).await, (409, COPY.into()));
    // Other white space makes no other collection.
    let spaced = String::from_utf8(body.clone()).unwrap().replace("\":", "\" : ");
    assert_eq!(bench.post(spaced).await, (409, COPY.into()));
    let tls = bench.tls(Some(Role::ClientForOtherLicense), "http/1.1");
    let mut elsewhere = http1(connect(bench.service.addr(), tls).await.unwrap()).await;
    let mut request = bench.request(body);
    let license = bench.credentials.license(LicenseForm::OtherLicense);
    request.headers_mut().insert("authorization", format!("Bearer {license}").parse().unwrap());
    assert_eq!(answered(elsewhere.send_request(request)).await, (409, COPY.into()));

    let causes: Vec<_> = bench.service.journal().into_iter().filter_map(|arrival| arrival.stimulus).collect();
    assert_eq!(causes[..1], [Stimulus::VerdictReady]);
    assert_eq!(causes[1..], [Stimulus::Replayed, Stimulus::Replayed, Stimulus::ReplayedElsewhere]);
    assert_eq!(bench.verdict("r").await, first);
    let other = bench.send(bench.poll_as(ReadTokenForm::OtherLicense, "r")).await;
    assert_eq!(other.status(), 404, "the other license has no session of it");
}

#[tokio::test]
async fn collection_is_accepted_again_after_the_window() {
    let bench = Bench::start().await;
    bench.service.clock().stop();
    let body = bench.sealed("r");
    let mut statuses = Vec::new();
    for seconds in [0, 599, 1, 599] {
        bench.service.clock().advance(Duration::from_secs(seconds));
        statuses.push(bench.post(body.clone()).await.0);
    }
    assert_eq!(statuses, [200, 409, 200, 409]);
}

#[tokio::test]
async fn refused_collection_is_accepted_later() {
    let bench = Bench::start().await;
    let body = bench.sealed("r");
    bench.service.set_outage(Some(edgeproof_mock::Outage::CheckFails));
    assert_eq!(bench.post(body.clone()).await.0, 401);
    bench.service.set_outage(None);
    assert_eq!(bench.verdict("r").await.0, 404);
    assert_eq!(bench.post(body).await.0, 200);
}

#[tokio::test]
async fn full_store_refuses_new_collections_and_copies() {
    let bench = Bench::with(Version::Current, |options| options.profile.replay_entries = 2).await;
    let bodies = [bench.sealed("1"), bench.sealed("2"), bench.sealed("3")];
    let full = (503, br#"{"error":"overloaded","reason":"overloaded"}"#[..].into());
    assert_eq!(bench.post(bodies[0].clone()).await.0, 200);
    assert_eq!(bench.post(bodies[1].clone()).await.0, 200);
    assert_eq!(bench.post(bodies[2].clone()).await, full);
    assert_eq!(bench.post(bodies[0].clone()).await, (409, COPY.into()));
    assert_eq!(bench.verdict("3").await.0, 404);
    bench.service.clock().advance(Duration::from_secs(600));
    assert_eq!(bench.post(bodies[2].clone()).await.0, 200);
}

#[tokio::test]
async fn retired_seal_key_is_refused() {
    let bench = Bench::start().await;
    let old = bench.service.seal_key();
    let (first, second) = (bench.sealed("1"), bench.sealed("2"));
    let new = bench.service.rotate_seal_key();
    assert_eq!((bench.post(first).await.0, bench.post(bench.sealed("3")).await.0), (200, 200));
    assert!(bench.service.retire_seal_key(old.id()) && !bench.service.retire_seal_key(new.id()));
    let refused = br#"{"error":"unknown_seal_key","reason":"unknown_seal_key"}"#;
    assert_eq!(bench.post(second).await, (400, refused[..].into()));
}

#[tokio::test]
async fn fewer_measurements_lower_the_confidence() {
    let bench = Bench::start().await;
    let mut confidences = Vec::new();
    for (reference, blocked) in [("all", &Measurement::ALL[..0]), ("half", &Measurement::ALL[..9])] {
        let collection = Collection::generated(reference, 7, SystemTime::now()).blocked(blocked);
        assert_eq!(bench.post(collection.seal(&bench.service.seal_key())).await.0, 200);
        let verdict: serde_json::Value = serde_json::from_slice(&bench.verdict(reference).await.1).unwrap();
        confidences.push((verdict["decision"].clone(), verdict["confidence"].as_f64().unwrap()));
    }
    assert_eq!(confidences, [("allow".into(), 1.0), ("review".into(), 0.43)]);
}

#[tokio::test]
async fn pre_seal_collection_is_plain_json() {
    let bench = Bench::with(Version::PreSeal, |_| {}).await;
    let sealed = bench.sealed("r");
    let body = Collection::generated("r", 7, SystemTime::now()).to_json();
    let missing: (u16, Bytes) = (400, br#"{"error":"missing_fields","reason":"missing_fields"}"#[..].into());
    for what in [&b"{}"[..], b"[1]", b"{\"a\":1}", &sealed] {
        assert_eq!(bench.post(what.to_vec()).await, missing);
    }
    assert_eq!(bench.post("no JSON").await.0, 400);
    assert_eq!((bench.post(body.clone()).await.0, bench.verdict("r").await.0), (200, 200));
    assert_eq!(bench.post(body).await, (409, COPY.into()));
}
