//! Reports that gather does not take.

use std::time::Duration;

use edgeproof_load::gather::{GatherServer, GatherStep, Roster, RunToken, ShardId};
use edgeproof_load::merge::RunDescription;
use edgeproof_reports::TargetKind;
use edgeproof_reports::load::{LOAD_SCHEMA, LoadTarget, Model, PlannedLoad};
use rstest::rstest;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A gather whose only shard runs.
async fn running() -> GatherServer {
    let run = RunDescription {
        schema: LOAD_SCHEMA.into(),
        version: "0.1.0".into(),
        spec: None,
        scenario: "edge-relay".into(),
        model: Model::Open,
        shards: 1,
        plan: PlannedLoad::default(),
        target: LoadTarget { kind: TargetKind::Embedded, command: None, edge_url: None, base_url: None },
        faults: Vec::new(),
    };
    let (mut roster, shard) = (Roster::new(1, Duration::from_secs(60)), ShardId { index: 0, process: 1 });
    roster.join(Duration::ZERO, shard, run).unwrap();
    roster.ready(Duration::ZERO, shard).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = GatherServer::start(listener, 1, roster, RunToken::new("t").unwrap(), |_| {}).unwrap();
    assert_eq!(server.step(), GatherStep::Start);
    server
}

#[rstest]
#[case::a_gigabyte("Bearer t", 1_000_000_000, "", "its report has 1000000000 bytes")]
#[case::half("Bearer t", 100, "{", "its report broke off after 1 bytes")]
#[case::no_report("Bearer t", 2, "{}", "its report is wrong")]
#[case::wrong_token("Bearer u", 2, "{}", "gather does not know the token")]
#[tokio::test]
async fn wrong_report_is_refused(
    #[case] token: &str,
    #[case] length: u64,
    #[case] body: &str,
    #[case] expected: &str,
) {
    let server = running().await;
    let mut stream = TcpStream::connect(server.addr()).await.unwrap();
    let head = format!(
        "POST /v1/shards/0/1/report HTTP/1.1\r\nHost: gather\r\nAuthorization: {token}\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer);
    // A shard that is gone gets no answer.
    assert!(answer.contains(expected) || (answer.is_empty() && expected.contains("broke off")), "{answer}");
    assert!(server.files().is_empty());
}
