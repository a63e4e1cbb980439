//! Scripts: precedence, order of replies, and lifetime.

use std::time::Duration;

use bytes::Bytes;
use edgeproof_mock::{Action, Match};
use http::StatusCode;

use super::support::{Bench, LONG, answer, answered, http1, http2, script};

fn marker(text: &str) -> Match {
    Match::Marker(Bytes::copy_from_slice(text.as_bytes()))
}

#[tokio::test]
async fn replies_follow_in_order_and_the_last_repeats() {
    let bench = Bench::start().await;
    let scripted = bench
        .service
        .script(Match::Everything, script([answer(200, "1"), answer(502, "2"), answer(201, "3")]));
    let mut statuses = Vec::new();
    for _ in 0..5 {
        statuses.push(bench.post("{}").await.0);
    }
    assert_eq!(statuses, [200, 502, 201, 201, 201]);
    let arrivals = scripted.arrivals();
    let given: Vec<_> = arrivals.iter().filter_map(|a| a.answer.as_ref()?.status()).collect();
    assert_eq!((scripted.count(), given), (5, vec![200, 502, 201, 201, 201]));
    assert!(arrivals.is_sorted_by_key(|arrival| arrival.at));
    assert!(arrivals.iter().all(|arrival| arrival.answered >= Some(arrival.at) && arrival.claimed));
}

#[tokio::test]
async fn again_repeats_all_replies() {
    let bench = Bench::start().await;
    let replies = [answer(200, "1"), answer(502, "2"), Action::Again];
    let scripted = bench.service.script(Match::Everything, script(replies));
    let mut statuses = Vec::new();
    for _ in 0..5 {
        statuses.push(bench.post("{}").await.0);
    }
    assert_eq!((statuses, scripted.count()), (vec![200, 502, 200, 502, 200], 5));
}

#[tokio::test]
async fn marker_precedes_everything_and_later_script_precedes_earlier() {
    let bench = Bench::start().await;
    let _marked = bench.service.script(marker("m-1"), script([answer(201, "")]));
    let everything = bench.service.script(Match::Everything, script([answer(202, "")]));
    assert_eq!((bench.post("[\"m-1\"]").await.0, bench.post("[\"m-2\"]").await.0), (201, 202));
    let again = bench.service.script(marker("m-1"), script([answer(203, "")]));
    let wider = bench.service.script(Match::Everything, script([answer(204, "")]));
    assert_eq!((bench.post("[\"m-1\"]").await.0, bench.post("[\"m-2\"]").await.0), (203, 204));
    drop(again);
    drop(wider);
    assert_eq!((bench.post("[\"m-1\"]").await.0, bench.post("[\"m-2\"]").await.0), (201, 202));
    drop(everything);
    assert_eq!((bench.post("[\"m-1\"]").await.0, bench.post("[\"m-2\"]").await.0), (201, 400));
}

#[tokio::test]
async fn request_without_script_is_unclaimed() {
    let bench = Bench::start().await;
    bench.post("\"before\"").await;
    let mark = bench.service.mark();
    let scripted = bench.service.script(marker("mine"), script([answer(200, "")]));
    bench.post("\"mine\"").await;
    bench.post("\"other\"").await;
    let unclaimed = bench.service.unclaimed_since(mark);
    assert_eq!(unclaimed.iter().map(|a| a.request.body.as_ref()).collect::<Vec<_>>(), [b"\"other\""]);
    assert_eq!(scripted.arrivals().len(), 1);
}

#[tokio::test]
async fn wait_ends_with_the_last_request_or_the_limit() {
    let bench = Bench::start().await;
    let scripted = bench.service.script(Match::Everything, script([answer(200, "")]));
    assert_eq!(scripted.wait_for(1, Duration::from_millis(1)).await.len(), 0);
    let posts = async {
        for _ in 0..3 {
            bench.post("{}").await;
        }
    };
    let (arrivals, ()) = tokio::join!(scripted.wait_for(3, LONG), posts);
    assert_eq!(arrivals.len(), 3);
    assert!(arrivals.iter().all(|arrival| arrival.finished));
}

#[tokio::test]
async fn concurrent_requests_get_the_reply_of_their_marker() {
    let bench = Bench::start().await;
    let scripts: Vec<_> = (0..64u16)
        .map(|n| {
            bench.service.script(marker(&format!("<{n}>")), script([answer(200 + n, &format!("to {n}"))]))
        })
        .collect();
    let shared = http2(bench.connect("h2").await).await;
    let mut posts = tokio::task::JoinSet::new();
    for n in 0..64u16 {
        let request = bench.request(format!("\"<{n}>\""));
        // Half of them share a connection.
        if n % 2 == 0 {
            let mut client = shared.clone();
            posts.spawn(async move { (n, answered(client.send_request(request)).await) });
        } else {
            let mut client = http1(bench.connect("http/1.1").await).await;
            posts.spawn(async move { (n, answered(client.send_request(request)).await) });
        }
    }
    while let Some(done) = posts.join_next().await {
        let (n, answer) = done.unwrap();
        // 204 has no body.
        let body = if n == 4 { String::new() } else { format!("to {n}") };
        assert_eq!((n, answer), (n, (200 + n, body.into())));
    }
    assert!(scripts.iter().all(|script| script.count() == 1));
    assert_eq!(bench.service.connections_accepted(), 33);
}

#[tokio::test]
#[should_panic(expected = "at least one reply")]
async fn script_without_a_reply_panics() {
    let _ = Bench::start().await.service.script(Match::Everything, script([]));
}

#[tokio::test]
#[should_panic(expected = "between 200 and 999")]
async fn script_with_an_interim_status_panics() {
    let status = StatusCode::CONTINUE.as_u16();
    let action = Action::CutBody { status, body: Bytes::new(), after: 0 };
    let _ = Bench::start().await.service.script(Match::Everything, script([action]));
}
