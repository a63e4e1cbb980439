//! Signals, closed pipes and full disks for runs against a service or a key set, for the mock service and for the reference
//! edge. The module `ends` covers runs against edges.

use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

use edgeproof_mock::{ListenerMode, MockService, ServiceOptions};
use edgeproof_reports::{Outcome, Report};
use rstest::rstest;
use rustix::process::Signal;
use tempfile::TempDir;
use tokio::time::timeout;

use super::hostile_proxy::HostileProxy;
use super::watched::{self, REPORTS, command, files};
use crate::limited;

const LIMIT: Duration = Duration::from_secs(60);

/// A service that answers only its first request.
async fn silent() -> (MockService, HostileProxy) {
    let options = ServiceOptions { mode: ListenerMode::PlainHttp, ..ServiceOptions::default() };
    let service = MockService::start_with(options).await.unwrap();
    let proxy = HostileProxy::start(service.addr(), 1, "mute").await;
    (service, proxy)
}

/// A run that waits for the silent service.
async fn stuck(folder: &TempDir, target: &str, proxy: &HostileProxy) -> Child {
    let url = proxy.url().to_string();
    let address = if target == "keys" { "--keys-url" } else { "--base-url" };
    let args = ["conformance", target, address, &url, "--case-timeout", "10m"];
    let child = command(folder.path(), &[&args[..], &REPORTS].concat()).spawn().unwrap();
    timeout(LIMIT, proxy.first_mistreated()).await.unwrap();
    child
}

fn end(child: Child, signal: Signal) -> std::process::Output {
    watched::signal(&child, signal);
    limited::end(child)
}

/// Reports are complete.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signal_completes_the_reports_of_a_service(
    #[values("service", "keys")] target: &str,
    #[values((Signal::INT, 130), (Signal::TERM, 143))] (signal, code): (Signal, i32),
) {
    let folder = tempfile::tempdir().unwrap();
    let (_service, proxy) = silent().await;
    let output = end(stuck(&folder, target, &proxy).await, signal);
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_run_keeps_the_old_report_of_a_service() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("r.json"), "the report of the last run").unwrap();
    let (_service, proxy) = silent().await;
    let output = end(stuck(&folder, "service", &proxy).await, Signal::KILL);
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
fn full_standard_output_is_an_error(#[case] args: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = command(folder.path(), args);
    let output =
        limited::end(command.env("TMPDIR", folder.path()).stdout(Stdio::from(full)).spawn().unwrap());
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("No space left on device"), "{errors}");
    assert_eq!(files(&folder), [] as [String; 0], "nothing is left behind");
}

#[rstest]
#[case::service(&["conformance", "service", "--filter", "verdict.sanity.*"])]
#[case::keys(&["conformance", "keys", "--filter", "keys.sanity.*"])]
#[case::magic(&["mock", "--magic"])]
fn closed_standard_output_keeps_the_exit_code(#[case] args: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path(), args).spawn().unwrap();
    drop(child.stdout.take());
    let output = limited::end(child);
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
}

/// Without its printed address the mock service is useless: it exits with an error and leaves no files.
#[test]
fn mock_with_closed_standard_output_exits_2() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path(), &["mock", "--listen", "127.0.0.1:0"]);
    let mut child = command.env("TMPDIR", folder.path()).spawn().unwrap();
    drop(child.stdout.take());
    let output = limited::end(child);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), files(&folder)), (Some(2), Vec::new()), "{errors}");
    assert!(errors.contains("Broken pipe"), "{errors}");
}

#[rstest]
fn full_disk_keeps_the_old_report_of_a_service(#[values("service", "keys")] target: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("r.json"), "the report of the last run").unwrap();
    // A limit on the file size acts like a full disk: the write fails halfway.
    let line = r#"trap "" XFSZ; ulimit -f 4; exec "$@""#;
    let mut shell = std::process::Command::new("bash");
    shell.args(["-c", line, "bash", env!("CARGO_BIN_EXE_edgeproof"), "conformance", target]);
    let output = limited::output(shell.args(["--report", "json=r.json"]).current_dir(folder.path()));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("r.json") && errors.contains("File too large"), "{errors}");
    assert_eq!(files(&folder), ["r.json"]);
    assert_eq!(fs::read_to_string(folder.path().join("r.json")).unwrap(), "the report of the last run");
}
