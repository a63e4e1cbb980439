//! The whole journey: a page in Chromium runs the reference collector, an edge relays the collection, the mock service
//! gives a verdict, and a foreign library verifies its token. Missing Chromium or Node fails these tests.

#![expect(clippy::unwrap_used, reason = "clippy exempts only functions marked as tests")]

mod parts;

use std::collections::BTreeSet;

use edgeproof_browser::{CallOutcome, CollectorCall, ErrorPath};
use edgeproof_fixtures::seal::{COLLECTOR_VERSION, CollectorMode, Measurement, Measurements, open};
use rstest::rstest;
use serde_json::Value;

use parts::{EdgeKind, Journey};

/// A reference with characters that paths and JSON encode.
const REFERENCE: &str = "Bestellung ü / 4711 \"rot\"";

#[rstest]
#[case::embedded(EdgeKind::Embedded, CollectorMode::Full)]
#[case::embedded_passive(EdgeKind::Embedded, CollectorMode::Passive)]
#[case::node(EdgeKind::Node, CollectorMode::Full)]
#[tokio::test(flavor = "multi_thread")]
async fn session_of_a_page_ends_in_a_verdict_that_the_key_set_verifies(
    #[case] edge: EdgeKind,
    #[case] mode: CollectorMode,
) {
    let journey = Journey::start(edge).await;
    let page = journey.page(mode).await;
    for call in [start(REFERENCE), CollectorCall::Ready, CollectorCall::Verify, CollectorCall::Verify] {
        assert_eq!(page.call(call.clone()).await, CallOutcome::Returned(Value::Null), "{call:?}");
    }

    // The service got one collection, as the page sent it.
    let relayed = journey.relayed();
    assert_eq!(relayed.len(), 1);
    let record = page.record();
    let posted: Vec<_> = record.requests.iter().filter(|request| request.method == "POST").collect();
    assert_eq!(posted.len(), 1);
    assert_eq!(posted[0].body.as_deref().unwrap(), &relayed[0][..]);
    let contents = open(&relayed[0], journey.seal_keys()).unwrap().contents;
    assert_eq!((contents.session_ref.as_str(), contents.mode.as_str()), (REFERENCE, mode.name()));
    assert_eq!(contents.collector_version, COLLECTOR_VERSION);
    check_measurements(contents.measurements, mode, edge);
    assert_eq!((record.console_errors, record.uncaught), (vec![], vec![]));
    let sockets: Vec<_> = record.websockets.iter().map(|socket| socket.url.as_str()).collect();
    let measure = journey.edge_url().replacen("http", "ws", 1) + "/v1/measure";
    let expected = if mode == CollectorMode::Full { vec![measure.as_str()] } else { vec![] };
    assert_eq!(sockets, expected);

    // The backend gets the verdict, and the key set verifies its token.
    let (status, verdict) = journey.verdict(REFERENCE, 10_000).await;
    assert_eq!((status, &verdict["ref"]), (200, &Value::from(REFERENCE)));
    let claims = journey.verified_claims(verdict["token"].as_str().unwrap()).await;
    assert_eq!(claims["sub"], REFERENCE);
    assert_eq!(claims["aud"], journey.license_id());
    assert_eq!((&claims["decision"], &claims["confidence"]), (&verdict["decision"], &verdict["confidence"]));

    drop(page);
    journey.stop().await;
}

#[rstest]
#[case::embedded(EdgeKind::Embedded)]
#[case::node(EdgeKind::Node)]
#[tokio::test(flavor = "multi_thread")]
async fn refused_session_rejects_in_the_page_and_has_no_verdict(#[case] edge: EdgeKind) {
    let reference = "magic.relay.409.replayed-bundle~4711";
    let journey = Journey::start(edge).await;
    let page = journey.page(CollectorMode::Lite).await;
    assert_eq!(page.call(start(reference)).await, CallOutcome::Returned(Value::Null));
    let CallOutcome::Failed { error, how } = page.call(CollectorCall::Verify).await else {
        panic!("verify() did not fail");
    };
    assert_eq!((error.name.as_str(), error.message.as_str()), ("Error", "signal report failed: 409"));
    assert_eq!(how, ErrorPath::Rejected);
    assert_eq!(journey.relayed().len(), 1);
    let (status, pending) = journey.verdict(reference, 0).await;
    assert_eq!((status, &pending["status"]), (404, &Value::from("pending")));

    drop(page);
    journey.stop().await;
}

/// All measurements of the mode are there. On a busy machine some come too late, and are null.
fn check_measurements(measurements: Measurements, mode: CollectorMode, edge: EdgeKind) {
    let arrived: BTreeSet<_> = measurements.arrived().collect();
    let late: BTreeSet<_> = measurements.blocked().collect();
    let all: BTreeSet<_> = Measurement::of_mode(mode).iter().copied().collect();
    assert_eq!(&arrived | &late, all);
    let passive = Measurement::of_mode(CollectorMode::Passive);
    assert!(passive.iter().all(|one| arrived.contains(one)), "{arrived:?}");
    // The edge in Node has no WebSocket. That is no error.
    if matches!(edge, EdgeKind::Node) {
        assert!(!arrived.contains(&Measurement::RoundTrips));
    }
}

fn start(reference: &str) -> CollectorCall {
    CollectorCall::Start { session_ref: Some(reference.to_owned()) }
}
