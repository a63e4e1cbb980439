//! The program as users call it: exit codes, messages and reports.
#![expect(clippy::unwrap_used, reason = "test helpers, which clippy does not recognise as tests")]

use std::path::Path;
use std::process::{Command, Output};

use edgeproof_reports::load::LoadReport;
use rstest::rstest;

fn load(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_edgeproof-load"))
        .args(arguments)
        .env_remove("READ_TOKEN")
        .env_remove("JOB_COMPLETION_INDEX")
        .output()
        .unwrap()
}

fn report(path: &Path) -> LoadReport {
    LoadReport::load(path).unwrap()
}

#[rstest]
#[case(&["edge-relay", "--rate", "many"], "not a number")]
#[case(&["edge-relay", "--rate", "0"], "above 0")]
#[case(&["edge-relay", "--stages", "10s"], "no colon")]
#[case(&["edge-relay", "--threshold", "p98<1s"], "not a metric")]
#[case(&["edge-relay", "--thresholds", "/nonexistent"], "failed to read /nonexistent")]
#[case(&["edge-relay", "--shard", "4/4", "--seed", "1"], "index not below the count")]
#[case(&["edge-relay", "--shard", "0/4"], "--seed is missing")]
#[case(&["edge-relay", "--shards", "4", "--seed", "1"], "JOB_COMPLETION_INDEX")]
#[case(&["edge-relay", "--edge-url", "http://192.0.2.1"], "it is a remote host")]
#[case(&["edge-relay", "--edge-url", "ftp://127.0.0.1"], "neither http nor https")]
#[case(&["edge-relay", "--edge-url", "http://127.0.0.1:1", "--service-slow", "1s"], "foreign service")]
#[case(&["journey", "--edge-url", "http://127.0.0.1:1"], "without --base-url")]
#[case(&["verdict-polling", "--base-url", "http://127.0.0.1:1"], "no read token")]
#[case(&["mixed", "--weights", "1,2"], "read --weights")]
#[case(&["edge-relay", "--report", "html"], "it has no `=`")]
#[case(&["edge-relay", "--report", "html=/nonexistent/x"], "does not exist")]
#[case(&["edge-relay", "--compare", "Cargo.toml"], "not JSON")]
#[case(&["edge-relay", "--replay-share", "5%"], "detects no replays")]
#[case(&["edge-relay", "--seal", "real", "--edge-url", "http://127.0.0.1:1"], "key of this service is unknown")]
#[case(&["edge-relay", "--launch", "no-such-program-there"], "no-such-program-there")]
#[case(&["edge-relay", "--rate", "500", "--expect", "1s", "--users", "100"], "give --users 750")]
#[case(&["edge-relay", "--users", "1500"], "its limit is 1000")]
#[case(&["verdict-polling", "--launch", "node edge.mjs"], "verdict-polling does not use an edge")]
#[case(&["edge-relay", "--base-url", "http://127.0.0.1:1"], "edge-relay does not poll for verdicts")]
#[case(&["edge-relay", "--client-cert", "Cargo.toml", "--client-key", "Cargo.toml"], "does not speak TLS")]
#[case(&["edge-relay", "--edge-ca", "Cargo.toml"], "use --edge-ca: the edge does not speak TLS")]
#[case(&["edge-relay", "--seal-key", "Cargo.toml"], "it needs --seal real")]
#[case(&["merge", "Cargo.toml"], "not JSON")]
#[case(&["merge"], "required")]
fn wrong_command_exits_2(#[case] arguments: &[&str], #[case] says: &str) {
    let output = load(arguments);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(printed.contains(says), "{printed}");
}

#[test]
fn unreachable_target_exits_3() {
    // A port without a listener.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let output = load(&["edge-relay", "--edge-url", &format!("http://127.0.0.1:{port}")]);
    assert_eq!(output.status.code(), Some(3));
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(printed.contains("reach the edge"), "{printed}");
}

#[rstest]
#[case::edge_relay("edge-relay", "p50<1us")]
#[case::edge_relay_by_route("edge-relay", "POST /v1/signals p50<1us")]
#[case::verdict_polling("verdict-polling", "p50<1us")]
#[case::journey("journey", "time-to-verdict<1us")]
#[case::mixed("mixed", "rate>100000")]
fn broken_threshold_exits_1(#[case] scenario: &str, #[case] threshold: &str) {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("load.json");
    let mut arguments =
        vec![scenario, "--rate", "40", "--duration", "1s", "--warm-up", "200ms", "--unchecked", "--quiet"];
    let to = format!("json={}", json.display());
    arguments.extend([
        "--verdict-after",
        "50ms",
        "--poll-interval",
        "20ms",
        "--report",
        &to,
        "--threshold",
        threshold,
    ]);
    let output = load(&arguments);
    let printed =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    let report = report(&json);
    assert_eq!(report.exit_code, 1);
    assert!(
        report.thresholds.iter().any(|threshold| !threshold.holds && threshold.value.is_some()),
        "{printed}"
    );
    // No other error: all operations are accounted for and have the expected outcome.
    assert_eq!(report.errors(), 0, "{printed}");
    assert!(report.reconciled.iter().all(|counted| counted.agrees), "{printed}");
    assert!(report.ledger.balances() && report.ledger.scheduled >= 39, "{printed}");
}

#[test]
fn closed_model_is_labelled_and_every_format_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let formats = ["json", "html", "markdown", "junit"].map(|format| format!("{format}={}", path(format)));
    let goose = path("goose.html");
    let mut arguments =
        vec!["edge-relay", "--users", "4", "--duration", "1s", "--warm-up", "0s", "--unchecked"];
    arguments.extend(["--seal", "real", "--replay-share", "20%", "--goose-report", &goose]);
    for format in &formats {
        arguments.extend(["--report", format]);
    }
    let output = load(&arguments);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("closed model: 4 users"), "{printed}");
    let report = report(Path::new(&path("json")));
    assert_eq!(report.rate.asked, None);
    let replayed =
        report.routes[0].outcomes.iter().find(|outcome| outcome.outcome == "409 replayed_bundle").unwrap();
    assert!(replayed.expected);
    let html = std::fs::read_to_string(path("html")).unwrap();
    assert!(
        html.contains("<svg")
            && html.contains("default-src 'none'")
            && !html.contains("<script")
            && !html.contains("src=")
    );
    assert!(std::fs::read_to_string(path("markdown")).unwrap().contains("409 replayed"));
    assert!(std::fs::read_to_string(path("junit")).unwrap().contains("testcase"));
    assert!(std::fs::read_to_string(&goose).unwrap().contains("/v1/signals"));
}

#[test]
fn downtime_of_the_service_is_reported_with_its_recovery() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("load.json");
    let to = format!("json={}", json.display());
    let mut arguments =
        vec!["edge-relay", "--rate", "50", "--duration", "4s", "--warm-up", "0s", "--unchecked"];
    arguments.extend(["--service-down-at", "1s:500ms", "--service-slow", "5ms", "--report", &to]);
    let output = load(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let report = report(&json);
    let unreachable =
        report.routes[0].outcomes.iter().find(|outcome| outcome.outcome == "502 service_unreachable");
    assert!(unreachable.is_some_and(|outcome| outcome.count > 5), "{:?}", report.routes[0].outcomes.len());
    assert!(report.faults.iter().any(|fault| fault.recovery_ms.is_some()), "{:?}", report.faults);
    assert!(report.reconciled[0].agrees);
}
