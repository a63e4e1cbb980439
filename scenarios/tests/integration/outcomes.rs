//! Every outcome of a request, with wiremock as an independent edge and service.

use std::time::Duration;

use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_http::ServerAddress;
use edgeproof_load::engine::{LoadModel, LoadRun, RunData};
use edgeproof_load::measure::{Codes, OutcomeSeries, RequestOutcome, RouteId};
use edgeproof_load::plan::{Arrivals, Rate, Shard, Share, Stages, UserCount, UserLimit};
use edgeproof_load::scenario::{
    CollectionRequests, CollectionSource, EdgeRelay, Journey, LoadScenario as _, OpaqueCollections,
    PollOptions, References, VerdictPolling, VerdictRequests,
};
use goose::goose::Scenario;
use wiremock::matchers::{method, path_regex};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::support::{GOOSE, LIMIT as LONG, MACHINE};

async fn endpoint(url: &str) -> ServerAddress {
    ServerAddress::resolve(&url.parse().unwrap(), None).await.unwrap()
}

async fn relay(url: &str) -> EdgeRelay {
    EdgeRelay {
        requests: CollectionRequests::new(&spec(), endpoint(url).await, "https://shop.example", RouteId(0))
            .unwrap(),
        collections: CollectionSource::Opaque(OpaqueCollections::new(3)),
        replays: Share::default(),
        accepted: parking_lot::Mutex::default(),
        replayed: (409, codes().find("replayed_bundle")),
        service_times: None,
    }
}

async fn polling(url: &str, route: u8, give_up: Duration) -> VerdictPolling {
    let (endpoint, token) = (endpoint(url).await, "Bearer service_read_x");
    VerdictPolling {
        requests: VerdictRequests::new(&spec(), endpoint, token, Vec::new(), RouteId(route)).unwrap(),
        references: References::Generated(None),
        collections: OpaqueCollections::new(3),
        options: PollOptions {
            poll_interval: Duration::from_millis(10),
            wait: Duration::from_millis(100),
            wait_share: Share::default(),
            give_up,
            wrong_share: Share::default(),
            bad_token_share: Share::default(),
        },
    }
}

fn codes() -> Codes {
    Codes::new(&spec())
}

fn spec() -> Spec {
    Spec::builtin(Version::Current)
}

/// Plays twenty operations, each with a user of its own if necessary.
async fn load(scenario: Scenario, timeout: Duration, drain: Duration) -> RunData {
    load_with(20, 20, scenario, timeout, drain).await
}

/// Plays this many operations in half a second.
async fn load_with(
    operations: u32,
    users: u32,
    scenario: Scenario,
    timeout: Duration,
    drain: Duration,
) -> RunData {
    let rate = Rate::per_second(f64::from(operations) * 2.0).unwrap();
    let stages = Stages::constant(rate, Duration::from_millis(500)).unwrap();
    let run = LoadRun {
        scenarios: vec![scenario],
        model: LoadModel::Open(Arrivals::new(&stages, Duration::ZERO, Shard::WHOLE)),
        users: UserCount { users, limit: UserLimit::Given },
        seed: 3,
        codes: codes(),
        routes: vec!["POST /v1/signals".into(), "GET /v1/verdict/{ref}".into()],
        addresses: Vec::new(),
        edge: None,
        timeout,
        drain,
        start_at: None,
        shared_route: None,
        on_start: None,
        live: None,
    };
    let (_goose, _machine) = (GOOSE.lock().await, MACHINE.read().await);
    run.play(std::future::pending()).await.unwrap()
}

/// Outcomes with their counts. `!` marks unexpected ones.
fn outcomes(data: &RunData) -> Vec<String> {
    let mut outcomes: Vec<String> = data
        .recorded
        .series
        .iter()
        .map(|series| {
            let mark = if series.expected { "" } else { "! " };
            format!("{mark}{} × {}", codes().label(series.outcome), series.response.count())
        })
        .collect();
    outcomes.sort();
    outcomes
}

/// Each answer is given another number of times.
#[tokio::test(flavor = "multi_thread")]
async fn answer_of_an_edge_decides_the_outcome() {
    let answers = [
        (200, r#"{"ok":true}"#, "200 × 1"),
        (200, r#"{"ok":true,"more":1}"#, "! 200 with another body × 2"),
        (
            409,
            r#"{"error":"service_rejected","reason":"replayed_bundle","status":409}"#,
            "! 409 replayed_bundle × 3",
        ),
        (401, r#"{"error":"service_rejected","reason":"expired","status":401}"#, "! 401 expired × 4"),
        (502, r#"{"error":"service_unreachable"}"#, "! 502 service_unreachable × 5"),
        (400, r#"{"error":"read_failed"}"#, "! 400 read_failed × 6"),
        (418, r#"{"error":"teapot"}"#, "! 418 with a code not in the tables × 7"),
        (503, "<html>", "! 503 with another body × 8"),
    ];
    let edge = MockServer::start().await;
    for (times, (status, body, _)) in (1..).zip(answers) {
        Mock::given(method("POST"))
            .respond_with(ResponseTemplate::new(status).set_body_string(body))
            .up_to_n_times(times)
            .mount(&edge)
            .await;
    }
    let data = load_with(36, 36, relay(&edge.uri()).await.scenario(), LONG, LONG).await;
    let mut expected = answers.map(|(_, _, outcome)| outcome);
    expected.sort_unstable();
    assert_eq!(outcomes(&data), expected);
    assert_eq!(data.recorded.ledger.answered, 36);
    assert!(data.recorded.ledger.balances());
    assert_eq!(edge.received_requests().await.unwrap().len(), 36);
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_edge_times_out() {
    let edge = MockServer::start().await;
    let late = ResponseTemplate::new(200).set_delay(Duration::from_secs(20));
    Mock::given(method("POST")).respond_with(late).mount(&edge).await;
    let data = load(relay(&edge.uri()).await.scenario(), Duration::from_millis(50), LONG).await;
    assert_eq!(outcomes(&data), ["! timed out × 20"]);
    assert_eq!((data.recorded.ledger.failed, data.recorded.ledger.scheduled), (20, 20));
}

/// One user is always busy. Counted from sending, the last operation would time out after 2 s.
#[tokio::test(flavor = "multi_thread")]
async fn operation_that_waits_for_a_user_times_out_from_its_intended_start() {
    let edge = MockServer::start().await;
    let late = ResponseTemplate::new(200).set_delay(Duration::from_secs(20));
    Mock::given(method("POST")).respond_with(late).mount(&edge).await;
    let data = load_with(20, 1, relay(&edge.uri()).await.scenario(), Duration::from_millis(100), LONG).await;
    let ledger = data.recorded.ledger;
    assert_eq!(ledger.failed + ledger.dropped, 20);
    assert!(data.waited > 10);
    let longest = data.recorded.series.iter().map(|series| series.observed.max()).max().unwrap();
    assert!(longest < 1_000_000, "{longest} µs");
    let never_sent = |series: &&OutcomeSeries| series.outcome == RequestOutcome::Dropped;
    if let Some(never_sent) = data.recorded.series.iter().find(never_sent) {
        assert!(never_sent.observed.max() <= 100_100, "it timed out then");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn open_and_dropped_operations_count_at_their_age() {
    let edge = MockServer::start().await;
    let late = ResponseTemplate::new(200).set_delay(Duration::from_secs(20));
    Mock::given(method("POST")).respond_with(late).mount(&edge).await;
    let scenario = relay(&edge.uri()).await.scenario();
    let data = load_with(20, 4, scenario, LONG, Duration::from_millis(200)).await;
    // Four users, one running operation each.
    assert_eq!(outcomes(&data), ["! never sent × 16", "! still open at the end × 4"]);
    let ledger = data.recorded.ledger;
    assert_eq!((ledger.scheduled, ledger.dropped, ledger.open), (20, 16, 4));
    assert_eq!((data.waited, data.run.users.limit), (16, UserLimit::Given));
    let oldest = data.recorded.series.iter().map(|series| series.response.max()).max().unwrap();
    assert!(oldest >= 600_000, "the first operation is as old as the run: {oldest} µs");
}

#[tokio::test(flavor = "multi_thread")]
async fn unreachable_edge_counts_as_no_connection() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let scenario = relay(&format!("http://127.0.0.1:{port}")).await;
    let data = load(scenario.scenario(), LONG, LONG).await;
    assert_eq!(outcomes(&data), ["! no connection × 20"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn journey_ends_with_its_verdict() {
    let both = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(200).set_body_string(r#"{"ok":true}"#))
        .mount(&both)
        .await;
    let asked = parking_lot::Mutex::new(std::collections::HashSet::new());
    // The first poll for a reference comes too early.
    let answer = move |request: &Request| {
        let reference = request.url.path().trim_start_matches("/v1/verdict/").to_owned();
        if asked.lock().insert(reference.clone()) {
            let pending = format!(r#"{{"status":"pending","ref":"{reference}"}}"#);
            return ResponseTemplate::new(404).set_body_string(pending);
        }
        ResponseTemplate::new(200).set_body_string(format!(r#"{{"ref":"{reference}"}}"#))
    };
    Mock::given(method("GET")).and(path_regex("^/v1/verdict/")).respond_with(answer).mount(&both).await;
    let journey = Journey { relay: relay(&both.uri()).await, polling: polling(&both.uri(), 1, LONG).await };
    let data = load(journey.scenario(), LONG, LONG).await;
    assert_eq!(outcomes(&data), ["200 × 20", "200 × 20", "404 pending × 20"]);
    assert_eq!(data.recorded.verdict.answered.count(), 20);
    // Histograms store three digits.
    assert!(data.recorded.verdict.answered.min() >= 9_990, "polls are 10 ms apart");
    assert_eq!(data.recorded.ledger.answered, 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_verdict_is_an_error_at_its_age() {
    let service = MockServer::start().await;
    let pending = |request: &Request| {
        let reference = request.url.path().trim_start_matches("/v1/verdict/");
        ResponseTemplate::new(404).set_body_string(format!(r#"{{"status":"pending","ref":"{reference}"}}"#))
    };
    Mock::given(method("GET")).respond_with(pending).mount(&service).await;
    let data =
        load(polling(&service.uri(), 0, Duration::from_millis(100)).await.scenario(), LONG, LONG).await;
    let found = outcomes(&data);
    assert_eq!(found[0], "! no verdict in time × 20");
    assert!(found[1].starts_with("404 pending × "), "{found:?}");
    // It is not a time to verdict: sessions without a verdict rank above all of them.
    assert_eq!(data.recorded.verdict.answered.count(), 0);
    let ledger = data.recorded.ledger;
    assert_eq!((ledger.answered, ledger.unexpected, ledger.without_verdict), (20, 20, 20));
    let given_up =
        data.recorded.series.iter().find(|series| series.outcome == RequestOutcome::GivenUp).unwrap();
    assert!(given_up.response.min() >= 99_900);
}
