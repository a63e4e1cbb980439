//! Reports, thresholds and metrics as users see them.

use std::time::Duration;

use edgeproof_reports::load::LoadState;
use rstest::rstest;

use super::SHORT;
use super::partial::{LoadedEdge, get, metrics_address};
use crate::support::{Cases, MACHINE, ProgramCall, block_on, until};

#[rstest]
#[case::same_path("a.json", "a.json")]
#[case::other_spelling("a.json", "./a.json")]
#[case::link("there.json", "link.json")]
fn two_reports_to_one_file_exit_2(#[case] one: &str, #[case] other: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("there.json"), "before").unwrap();
    std::os::unix::fs::symlink(path("there.json"), path("link.json")).unwrap();
    let run = ProgramCall::new("edge-relay")
        .arg("--report", format!("json={}", path(one)))
        .arg("--report", format!("html={}/{other}", folder.path().display()))
        .output();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("cannot write two reports to"), "{run}");
    assert_eq!(std::fs::read_to_string(path("there.json")).unwrap(), "before");
}

#[test]
fn runs_show_what_users_ask_for() {
    let _shared = MACHINE.blocking_read();
    Cases::default()
        .case("dead target", || block_on(target_that_died_is_one_finding()))
        .case("metrics", || block_on(metrics_are_served_at_one_path()))
        .case("thresholds", thresholds_are_echoed_as_given)
        .case("journey", journey_shows_routes_and_verdicts_but_no_mixed_percentiles)
        .case("edited shard", edited_index_of_a_shard_exits_2)
        .case("thresholds of a shard", shard_does_not_judge_its_thresholds)
        .play();
}

fn thresholds_are_echoed_as_given() {
    let line = format!("edge-relay {SHORT} --threshold 'p99<50h' --threshold 'delivered > 0.5'");
    let run = ProgramCall::new(&line).run();
    assert!(run.stdout.contains("✓ p99<50h: ") && run.stdout.contains("✓ delivered > 0.5: "), "{run}");
    let report = run.ended(0);
    let rules: Vec<&str> = report.thresholds.iter().map(|threshold| threshold.rule.as_str()).collect();
    assert_eq!(rules, ["p99<50h", "delivered > 0.5", "error-rate <= 1%"]);
}

fn journey_shows_routes_and_verdicts_but_no_mixed_percentiles() {
    let line = format!("journey {SHORT} --verdict-after 50ms --poll-interval 20ms");
    let run = ProgramCall::new(&line).run();
    for row in ["  POST /v1/signals ", "  GET /v1/verdict/{ref} ", "  time to verdict "] {
        assert!(run.stdout.contains(row), "{row}: {run}");
    }
    assert!(!run.stdout.lines().any(|line| line.starts_with("  response")), "{run}");
    let report = run.ended(0);
    // Only a target that this program did not start itself is asked before the run.
    assert_eq!(report.probes, []);
    assert!(report.connections.bytes_sent > 1000 && report.connections.bytes_received > 1000);
}

fn edited_index_of_a_shard_exits_2() {
    let line = "edge-relay --users 2 --duration 200ms --warm-up 0s --seed 7 --unchecked --shard 0/2";
    let shard = ProgramCall::new(line).run().ended(0);
    let folder = tempfile::tempdir().unwrap();
    let mut edited = shard.clone();
    edited.shards[0].index = 1;
    let call = [("0.json", &shard), ("1.json", &edited)].into_iter().fold(
        ProgramCall::new("merge"),
        |call, (name, report)| {
            let path = folder.path().join(name);
            std::fs::write(&path, report.to_json()).unwrap();
            call.file(path)
        },
    );
    let run = call.output();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("shard 1 was edited"), "{run}");
}

fn shard_does_not_judge_its_thresholds() {
    let line = format!("edge-relay {SHORT} --shard 0/2 --seed 7 --threshold 'p50<1us'");
    let run = ProgramCall::new(&line).run();
    assert!(run.stdout.contains("· p50<1us: ") && run.stdout.contains("`merge` judges"), "{run}");
    let report = run.ended(0);
    assert!(!report.thresholds[0].holds);
}

async fn metrics_are_served_at_one_path() {
    let edge = LoadedEdge::start().await;
    let mut program = edge.load("--duration 1h");
    let metrics = metrics_address(&mut program);
    let status = |method: &str, path: &str| {
        get(metrics, method, path).split(' ').nth(1).unwrap_or_default().to_owned()
    };
    let found = [("GET", "/metrics"), ("POST", "/metrics"), ("GET", "/"), ("GET", "/metric")]
        .map(|(method, path)| status(method, path));
    assert_eq!(found, ["200", "405", "404", "404"]);
    // The first figures come after half a second.
    let text = until("rate in the metrics", || {
        let text = get(metrics, "GET", "/metrics");
        if text.contains("edgeproof_asked_operations_per_second 40") { Ok(text) } else { Err(text) }
    });
    for series in [
        "edgeproof_in_flight_operations ",
        "edgeproof_waiting_operations ",
        "# TYPE edgeproof_response_seconds histogram",
    ] {
        assert!(text.contains(series), "{series}: {text}");
    }
    drop(program);
    edge.server.stop(Duration::ZERO).await;
}

async fn target_that_died_is_one_finding() {
    let mut edge = LoadedEdge::start().await;
    let program = edge.load_until_answered("--duration 3s", 10).await;
    edge.server.stop(Duration::ZERO).await;
    let report = program.wait_beside().await.ended(3);
    assert_eq!(report.state, LoadState::Partial);
    // A busy machine adds findings about the generator.
    let about_target = |finding: &&String| {
        ["was gone from", "never started", "no verdict"].iter().any(|text| finding.contains(text))
    };
    let found: Vec<&String> = report.findings.iter().filter(about_target).collect();
    assert_eq!(found.len(), 1, "{:?}", report.findings);
    assert!(found[0].contains("was gone from"), "{:?}", report.findings);
}
