//! Ends that come from outside, for what is no run against an edge: the proof of a service and of a key set, the mock
//! service and the reference edge. (For edges see `ends`.)

use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

use edgeproof_mock::{ListenerMode, MockService, ServiceOptions};
use edgeproof_reports::{Outcome, Report};
use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::front::Front;
use crate::watched::{command, files};

const LIMIT: Duration = Duration::from_secs(60);
const REPORTS: [&str; 8] = [
    "--report",
    "json=r.json",
    "--report",
    "junit=r.xml",
    "--report",
    "html=r.html",
    "--report",
    "markdown=r.md",
];

/// A service that answers once, and then never again.
async fn silent() -> (MockService, Front) {
    let options = ServiceOptions { mode: ListenerMode::PlainHttp, ..ServiceOptions::default() };
    let service = MockService::start_with(options).await.unwrap();
    let front = Front::start(service.addr(), 1, "mute").await;
    (service, front)
}

/// A run that has begun to wait for it.
async fn stuck(folder: &TempDir, target: &str, front: &Front) -> Child {
    let url = front.url().to_string();
    let address = if target == "keys" { "--keys-url" } else { "--base-url" };
    let args = ["conformance", target, address, &url, "--case-timeout", "10m"];
    let child = command(folder.path(), &[&args[..], &REPORTS].concat()).spawn().unwrap();
    timeout(LIMIT, front.somebody_waits()).await.unwrap();
    child
}

fn end(child: Child, signal: Signal) -> std::process::Output {
    kill_process(Pid::from_child(&child), signal).unwrap();
    child.wait_with_output().unwrap()
}

/// Reports are whole.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_ends_the_proof_of_a_service_in_order(
    #[values("service", "keys")] target: &str,
    #[values((Signal::INT, 130), (Signal::TERM, 143))] (signal, code): (Signal, i32),
) {
    let folder = tempfile::tempdir().unwrap();
    let (_service, front) = silent().await;
    let output = end(stuck(&folder, target, &front).await, signal);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with(&format!("ended by a signal: nothing is proven (exit {code})\n")), "{text}");
    assert_eq!(files(&folder), ["r.html", "r.json", "r.md", "r.xml"]);
    let report = Report::load(&folder.path().join("r.json")).unwrap();
    assert_eq!((i32::from(report.exit_code), report.summary.planned), (code, report.cases.len()));
    assert!(report.cases.iter().any(|case| case.outcome == Outcome::NotRun));
    assert!(fs::read_to_string(folder.path().join("r.xml")).unwrap().trim_end().ends_with("</testsuites>"));
    assert!(fs::read_to_string(folder.path().join("r.html")).unwrap().trim_end().ends_with("</html>"));
}

/// Nothing can be done on SIGKILL, except to leave no part of a report behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_proof_of_a_service_leaves_no_part_of_a_report() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("r.json"), "the report of the last run").unwrap();
    let (_service, front) = silent().await;
    let output = end(stuck(&folder, "service", &front).await, Signal::KILL);
    assert_eq!(output.status.code(), None);
    assert_eq!(files(&folder), ["r.json"]);
    assert_eq!(fs::read_to_string(folder.path().join("r.json")).unwrap(), "the report of the last run");
}

#[rstest]
#[case::service(&["conformance", "service", "--filter", "verdict.sanity.*"])]
#[case::keys(&["conformance", "keys", "--filter", "keys.sanity.*"])]
#[case::magic(&["mock", "--magic"])]
#[case::a_mock(&["mock", "--listen", "127.0.0.1:0"])]
#[case::a_mock_for_scripts(&["mock", "--listen", "127.0.0.1:0", "--json"])]
#[case::rows(&["spec", "list"])]
fn a_standard_output_without_space_is_told(#[case] args: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = command(folder.path(), args);
    let output = command.env("TMPDIR", folder.path()).stdout(Stdio::from(full)).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("No space left on device"), "{errors}");
    assert_eq!(files(&folder), [] as [String; 0], "nothing is left behind");
}

/// Whoever closed the pipe has seen enough, and the exit code tells the rest.
#[rstest]
#[case::service(&["conformance", "service", "--filter", "verdict.sanity.*"])]
#[case::keys(&["conformance", "keys", "--filter", "keys.sanity.*"])]
#[case::magic(&["mock", "--magic"])]
fn nobody_reads_standard_output(#[case] args: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path(), args).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
}

/// A mock service whose address nobody can have read is of no use: that is told, and nothing is left behind.
#[test]
fn a_mock_whose_address_nobody_reads_does_not_serve() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path(), &["mock", "--listen", "127.0.0.1:0"]);
    let mut child = command.env("TMPDIR", folder.path()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), files(&folder)), (Some(2), Vec::new()), "{errors}");
    assert!(errors.contains("Broken pipe"), "{errors}");
}

/// Reports that do not fit: those that were there stay, and the proof is none.
#[rstest]
fn a_full_disk_keeps_the_report_of_a_service(#[values("service", "keys")] target: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("r.json"), "the report of the last run").unwrap();
    // A limit on the size of files is as much of a full disk as a test can have: writing fails half way.
    let line = r#"trap "" XFSZ; ulimit -f 4; exec "$@""#;
    let mut shell = std::process::Command::new("bash");
    shell.args(["-c", line, "bash", env!("CARGO_BIN_EXE_edgeproof"), "conformance", target]);
    let output = shell.args(["--report", "json=r.json"]).current_dir(folder.path()).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("r.json") && errors.contains("File too large"), "{errors}");
    assert_eq!(files(&folder), ["r.json"]);
    assert_eq!(fs::read_to_string(folder.path().join("r.json")).unwrap(), "the report of the last run");
}
