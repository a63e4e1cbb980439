//! Exit codes, messages and reports.

use edgeproof_reports::load::{LoadReport, LoadState};
use rstest::rstest;

use super::SHORT;
use crate::support::{Cases, MACHINE, ProgramCall};

#[rstest]
#[case("edge-relay --rate many", "not a number")]
#[case("edge-relay --origin shop.example", "not an http or https origin")]
#[case("edge-relay --rate 0", "above 0")]
#[case("edge-relay --stages 10s", "no colon")]
#[case("edge-relay --threshold 'p98<1s'", "not a metric")]
#[case("edge-relay --thresholds /nonexistent", "read /nonexistent")]
#[case("edge-relay --shard 4/4 --seed 1", "index not below the count")]
#[case("edge-relay --shard 0/4", "--seed is missing")]
#[case("edge-relay --shards 4 --seed 1", "JOB_COMPLETION_INDEX")]
#[case("edge-relay --edge-url http://192.0.2.1", "it is a remote host")]
#[case("edge-relay --edge-url ftp://127.0.0.1", "neither http nor https")]
#[case("edge-relay --edge-url http://127.0.0.1:1 --service-slow 1s", "foreign service")]
#[case("journey --edge-url http://127.0.0.1:1", "without --base-url")]
#[case("verdict-polling --base-url http://127.0.0.1:1", "no read token")]
#[case("mixed --weights 1,2", "read --weights")]
#[case("edge-relay --report html", "it has no `=`")]
#[case("edge-relay --report html=/nonexistent/x", "does not exist")]
#[case("edge-relay --compare Cargo.toml", "not JSON")]
#[case("edge-relay --replay-share 5%", "detects no replays")]
#[case("edge-relay --seal real --edge-url http://127.0.0.1:1", "key of this service is unknown")]
#[case("edge-relay --launch no-such-program-there", "no-such-program-there")]
#[case("edge-relay --users 20000", "its limit is 9984 connections")]
#[case("mixed --users 2", "give at least --users 3")]
#[case("mixed --weights 0,0,0", "read --weights")]
#[case("edge-relay --goose-report g.html", "unexpected argument")]
#[case("verdict-polling --launch 'node edge.mjs'", "verdict-polling does not use an edge")]
#[case("edge-relay --base-url http://127.0.0.1:1", "edge-relay does not poll for verdicts")]
#[case("edge-relay --client-cert Cargo.toml --client-key Cargo.toml", "does not speak TLS")]
#[case("edge-relay --edge-ca Cargo.toml", "use --edge-ca: the edge does not speak TLS")]
#[case("edge-relay --edge-scheme https", "--launch")]
#[case("edge-relay --seal-key Cargo.toml", "it needs --seal real")]
#[case("edge-relay --gather http://127.0.0.1:1", "this process has no index")]
#[case("edge-relay --gather http://127.0.0.1:1 --shard 0/1", "the variable GATHER_TOKEN: it is empty")]
#[case("edge-relay --gather http://a:b@127.0.0.1:1 --shard 0/1", "no plain http")]
#[case("gather --shards 2 --listen nowhere", "the port is missing")]
#[case("gather --shards 2 --listen 0", "the variable GATHER_TOKEN: it is empty")]
#[case("merge Cargo.toml", "not JSON")]
#[case("merge", "required")]
fn wrong_command_exits_2(#[case] line: &str, #[case] expected: &str) {
    let run = ProgramCall::new(line).output();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains(expected), "{run}");
}

#[test]
fn unreachable_target_exits_3() {
    // A port without a listener.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let run = ProgramCall::new(&format!("edge-relay --edge-url http://127.0.0.1:{port}")).output();
    assert_eq!(run.code, Some(3));
    assert!(run.stderr.contains("reach the edge"), "{run}");
}

#[test]
fn runs_end_with_their_exit_codes_and_reports() {
    let _shared = MACHINE.blocking_read();
    let mut cases = Cases::default()
        .case("downtime", downtime_of_the_service_is_reported_with_its_recovery)
        .case("baseline", baseline_is_compared_if_it_is_valid_and_has_the_same_load)
        .case("closed model", closed_model_is_labelled_and_every_format_is_written);
    for (scenario, threshold) in [
        ("edge-relay", "p50<1us"),
        ("edge-relay", "POST /v1/signals p50<1us"),
        ("verdict-polling", "p50<1us"),
        ("journey", "time-to-verdict<1us"),
        ("mixed", "rate>100000"),
    ] {
        let name = format!("broken threshold: {scenario}, {threshold}");
        cases = cases.case(name, || broken_threshold_exits_1(scenario, threshold));
    }
    cases.play();
}

fn broken_threshold_exits_1(scenario: &str, threshold: &str) {
    let line = format!("{scenario} {SHORT} --quiet --verdict-after 50ms --poll-interval 20ms");
    let run = ProgramCall::new(&line).arg("--threshold", threshold).run();
    let printed = run.to_string();
    let report = run.ended(1);
    assert_eq!(report.exit_code, 1);
    let broken = report.thresholds.iter().any(|threshold| !threshold.holds && threshold.value.is_some());
    assert!(broken, "{printed}");
    // No other error: all operations are accounted for and have the expected outcome.
    assert_eq!(report.errors(), 0, "{printed}");
    assert!(report.reconciled.iter().all(|counted| counted.agrees), "{printed}");
    assert!(report.ledger.balances() && report.ledger.scheduled >= 39, "{printed}");
}

fn closed_model_is_labelled_and_every_format_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mut call = ProgramCall::new(
        "edge-relay --users 4 --duration 500ms --warm-up 0s --unchecked --seal real --replay-share 20%",
    );
    for format in ["html", "markdown", "junit"] {
        call = call.arg("--report", format!("{format}={}", path(format)));
    }
    let run = call.run();
    assert!(run.stdout.contains("closed model: 4 users"), "{run}");
    let report = run.ended(0);
    assert_eq!(report.rate.asked, None);
    let replayed = |outcome: &str| outcome == "409 replayed_bundle";
    assert!(report.routes[0].outcomes.iter().find(|figures| replayed(&figures.outcome)).unwrap().expected);
    let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
    let html = read("html");
    assert!(html.contains("<svg") && html.contains("default-src 'none'"));
    assert!(!html.contains("<script") && !html.contains("src="));
    assert!(read("markdown").contains("409 replayed"));
    assert!(read("junit").contains("testcase"));
}

fn downtime_of_the_service_is_reported_with_its_recovery() {
    let line = "edge-relay --rate 50 --duration 2500ms --warm-up 0s --unchecked --service-slow 5ms";
    let report = ProgramCall::new(line).arg("--service-down-at", "500ms:500ms").run().ended(0);
    let unreachable =
        report.routes[0].outcomes.iter().find(|outcome| outcome.outcome == "502 service_unreachable");
    assert!(unreachable.is_some_and(|outcome| outcome.count > 5), "{:?}", report.routes[0].outcomes.len());
    assert!(report.faults.iter().any(|fault| fault.recovery_ms.is_some()), "{:?}", report.faults);
    assert!(report.reconciled[0].agrees);
}

fn baseline_is_compared_if_it_is_valid_and_has_the_same_load() {
    let folder = tempfile::tempdir().unwrap();
    let baseline = folder.path().join("baseline.json");
    let earlier =
        ProgramCall::new("edge-relay --rate 80 --duration 500ms --warm-up 0s --unchecked").run().ended(0);
    let compare = |scenario: &str, earlier: &LoadReport| {
        std::fs::write(&baseline, earlier.to_json()).unwrap();
        ProgramCall::new(&format!("{scenario} {SHORT} --tolerance 10%")).arg("--compare", &baseline).run()
    };
    let run = compare("edge-relay", &earlier);
    assert!(run.stdout.contains("compared with "), "{run}");
    let comparison = run.ended(0).comparison.unwrap();
    let named =
        |figure: &str| comparison.differences.iter().any(|difference| difference.figure.contains(figure));
    assert!(named("CPU") && named("p50") && named("p99"), "{comparison:?}");

    let other_schema = LoadReport { schema: "edgeproof.load/2".into(), ..earlier.clone() };
    let partial = LoadReport { state: LoadState::Partial, ..earlier.clone() };
    let mut other_rate = earlier.clone();
    other_rate.plan.stages[0].to = 120.0;
    for (scenario, earlier, expected) in [
        ("edge-relay", other_schema, "edgeproof.load/2"),
        ("edge-relay", partial, "that run was partial"),
        ("edge-relay", other_rate, "from 80 to 120/s there and 80/s here"),
        ("journey", earlier, "the scenario is edge-relay there and journey here"),
    ] {
        let run = compare(scenario, &earlier);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(expected), "{run}");
    }
}
