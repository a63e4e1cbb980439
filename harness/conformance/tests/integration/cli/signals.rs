//! Signals and closed pipes.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use edgeproof_reports::Outcome;
use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process};

use super::support::Folder;
use crate::broken_edge::command_with;
use crate::limited::{self, Watchdog};

fn send(signal: Signal, child: &Child) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Reports are complete, and the edge is gone.
#[rstest]
#[case::ctrl_c(Signal::INT, 130)]
#[case::terminated(Signal::TERM, 143)]
fn signal_stops_the_run_and_completes_the_reports(#[case] signal: Signal, #[case] code: i32) {
    let folder = Folder::new();
    let caller = TcpListener::bind("127.0.0.1:0").unwrap();
    let launch = command_with("silent", &format!("EDGE_CALL={}", caller.local_addr().unwrap()));
    let args = [
        "conformance",
        "--launch",
        &launch,
        "--filter",
        "method.put",
        "--filter",
        "method.invented",
        "--case-timeout",
        "10m",
        "--report",
        "json=r.json",
        "junit=r.xml",
        "html=r.html",
        "markdown=r.md",
        "--record",
        "points.json",
    ];
    let temporary = tempfile::tempdir().unwrap();
    let mut command = folder.command(&args);
    command.env("TMPDIR", temporary.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let mut edge = BufReader::new(limited::accept(&caller));
    edge.read_line(&mut String::new()).unwrap();
    // The edge runs a case now.
    send(signal, &child);
    let output = limited::end(child);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    // Returns when the edge's process closes the connection. A reset does as well.
    let _ = edge.read_to_end(&mut Vec::new());

    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with(&format!("ended by a signal: nothing is proven (exit {code})\n")), "{text}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "credentials are left behind");
    // Half a run makes no record.
    assert_eq!(folder.files(), ["r.html", "r.json", "r.md", "r.xml"]);
    let report = folder.report("r.json");
    assert_eq!((i32::from(report.exit_code), report.cases.len()), (code, 2));
    let put = report.cases.iter().find(|case| case.id == "method.put").unwrap();
    assert_eq!((put.outcome, put.because.as_str()), (Outcome::NotRun, "the run was interrupted"));
    assert!(folder.read("r.xml").trim_end().ends_with("</testsuites>"));
    assert!(folder.read("r.html").trim_end().ends_with("</html>"));
}

/// Credentials are in files before the first case runs.
#[test]
fn signal_while_planning_leaves_no_credentials() {
    let (folder, temporary) = (Folder::new(), tempfile::tempdir().unwrap());
    let mut command = folder.command(&["conformance", "--report", "json=r.json"]);
    command.env("TMPDIR", temporary.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let files = || std::fs::read_dir(temporary.path()).unwrap().count();
    let child = limited::until_child(child, "credentials are there", || files() > 0);
    send(Signal::INT, &child);
    let output = limited::end(child);
    assert_eq!((output.status.code(), files()), (Some(130), 0), "{output:?}");
    assert_eq!(folder.report("r.json").exit_code, 130);
}

/// Ctrl-C ends a held case at once.
#[test]
fn signal_ends_a_held_case() {
    let folder = Folder::new();
    let args = ["conformance", "--filter", "accept.exact-body", "--hold", "accept.exact-body"];
    let mut child = folder
        .command(&args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _watchdog = Watchdog::over(&child);
    let _stdin = child.stdin.take();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("press Enter") {
        line.clear();
        assert_ne!(out.read_line(&mut line).unwrap(), 0);
    }
    let sent = Instant::now();
    send(Signal::INT, &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(sent.elapsed() < Duration::from_secs(4), "it waited for a line on standard input");
}

/// `edgeproof … | head -1`: a closed pipe does not change the exit code.
#[rstest]
#[case::a_run(&["conformance", "--filter", "accept.*"], 0)]
#[case::a_list(&["conformance", "--list"], 0)]
#[case::the_rows(&["spec", "list"], 0)]
#[case::help(&["conformance", "--help"], 0)]
#[case::an_incomplete_run(&["conformance", "--launch", "false", "--filter", "accept.*"], 3)]
fn closed_standard_output_keeps_the_exit_code(#[case] args: &[&str], #[case] code: i32) {
    let folder = Folder::new();
    let mut child = folder.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = limited::end(child);
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(code), ""));
}

/// `edgeproof … --report json=- | head -1`.
#[test]
fn closed_report_on_standard_output_keeps_the_exit_code() {
    let folder = Folder::new();
    let args = ["conformance", "--filter", "accept.*", "--report", "json=-"];
    let mut child = folder.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = limited::end(child);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.ends_with("cases selected (exit 0)\n"), "{text}");
}

#[test]
fn closed_standard_error_keeps_the_exit_code() {
    let folder = Folder::new();
    for args in [&["conformance", "--filter", "nope"][..], &["conformance", "--no-such-option"]] {
        let mut child = folder.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stderr.take());
        assert_eq!(limited::end(child).status.code(), Some(2), "{args:?}");
    }
}
