//! A full disk, a killed edge and a killed program.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use edgeproof_reports::Outcome;
use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::program::{BROOD, call, command, ignoring_sigterm};
use super::watched::{self, files};
use crate::limited;

/// Waits until the edge runs a case. Yields its process id and a connection that ends with the process; none if the edge
/// did not call.
fn called(caller: &TcpListener) -> Option<(Pid, BufReader<TcpStream>)> {
    let mut edge = BufReader::new(limited::accept(caller));
    let mut line = String::new();
    edge.read_line(&mut line).unwrap();
    Some((Pid::from_raw(line.trim().parse().ok()?).unwrap(), edge))
}

/// A run that stops within `case`, which sends a `PUT`.
fn run_into(case: &str, folder: &TempDir, launch: &str) -> Command {
    let args = [
        "conformance",
        "--launch",
        launch,
        "--filter",
        case,
        "--filter",
        "method.get",
        "--case-timeout",
        "10m",
        "--report",
        "json=r.json",
        "junit=r.xml",
    ];
    watched::command(folder.path(), &args)
}

/// The killed edge fails its case, and the next case gets another edge.
#[rstest]
#[case::of_its_own("method.put")]
#[case::that_others_use("cors.readable.405")]
fn killed_edge_fails_only_its_case(#[case] id: &str) {
    let folder = tempfile::tempdir().unwrap();
    let caller = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = caller.local_addr().unwrap();
    let child = run_into(id, &folder, &command("calls", &call(address))).spawn().unwrap();
    // Until the run ends: the test counts the calls.
    let killing = std::thread::spawn(move || {
        let mut killed = 0;
        while let Some((pid, mut edge)) = called(&caller) {
            kill_process(pid, Signal::KILL).unwrap();
            let _ = edge.read_to_end(&mut Vec::new());
            killed += 1;
        }
        killed
    });
    let output = limited::end(child);
    drop(TcpStream::connect(address).unwrap());
    // The failure is confirmed by two more plays.
    assert_eq!(killing.join().unwrap(), 3);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
    let report = edgeproof_reports::Report::load(&folder.path().join("r.json")).unwrap();
    let case = report.cases.iter().find(|case| case.id == id).unwrap();
    assert_eq!(case.outcome, Outcome::Fail);
    let reported = case.mismatches.iter().any(|mismatch| mismatch.actual.contains("signal: 9"));
    assert!(reported, "{:?}", case.mismatches);
    let get = report.cases.iter().find(|case| case.id == "method.get").unwrap();
    assert_eq!(get.outcome, Outcome::Pass, "{}", get.because);
}

#[test]
fn killed_run_keeps_the_old_report() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("r.json"), "the report of the last run").unwrap();
    let caller = TcpListener::bind("127.0.0.1:0").unwrap();
    // Nothing deletes the credentials of a killed run.
    let temporary = tempfile::tempdir().unwrap();
    let mut run = run_into("method.put", &folder, &command("calls", &call(caller.local_addr().unwrap())));
    let mut child = run.env("TMPDIR", temporary.path()).spawn().unwrap();
    let (edge, _connection) = called(&caller).unwrap();
    child.kill().unwrap();
    assert_eq!(limited::wait(&mut child).signal(), Some(9));
    // No program can end its edges on SIGKILL.
    kill_process(edge, Signal::KILL).unwrap();
    assert_eq!(files(&folder), ["r.json"]);
    assert_eq!(fs::read_to_string(folder.path().join("r.json")).unwrap(), "the report of the last run");
}

/// The edge ignores SIGTERM, and its children left the process group.
#[rstest]
#[case::ctrl_c(Signal::INT, 130)]
#[case::terminated(Signal::TERM, 143)]
fn signal_kills_an_edge_that_ignores_sigterm(#[case] signal: Signal, #[case] code: i32) {
    let folder = tempfile::tempdir().unwrap();
    let caller = TcpListener::bind("127.0.0.1:0").unwrap();
    let brood = format!("{BROOD}=signal-{code}-{}", std::process::id());
    let call = call(caller.local_addr().unwrap());
    let mut run = run_into("method.put", &folder, &ignoring_sigterm("forks", &format!("{brood} {call}")));
    let child = run.spawn().unwrap();
    let (_, mut edge) = called(&caller).unwrap();
    watched::signal(&child, signal);
    let output = limited::end(child);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let _ = edge.read_to_end(&mut Vec::new());
    assert_eq!(watched::alive(&brood), [] as [String; 0]);
    let report = edgeproof_reports::Report::load(&folder.path().join("r.json")).unwrap();
    assert_eq!(i32::from(report.exit_code), code);
}

#[test]
fn full_disk_keeps_the_old_report() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("r.json"), "the report of the last run").unwrap();
    // A limit on the file size acts like a full disk: the write fails halfway.
    let line = r#"trap "" XFSZ; ulimit -f 4; exec "$@""#;
    let mut command = Command::new("bash");
    command
        .args(["-c", line, "bash", env!("CARGO_BIN_EXE_edgeproof"), "conformance", "--filter", "accept.*"])
        .args(["--report", "json=r.json", "junit=r.xml"])
        .current_dir(folder.path());
    let output = limited::output(&mut command);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.starts_with("cannot write "), "{errors}");
    assert!(errors.contains("r.json") && errors.contains("File too large"), "{errors}");
    assert_eq!(fs::read_to_string(folder.path().join("r.json")).unwrap(), "the report of the last run");
    // The other report is short enough. No temporary file is left.
    assert_eq!(files(&folder), ["r.json", "r.xml"]);
}

#[rstest]
#[case::a_report("json=/dev/full", Stdio::piped())]
#[case::standard_output("json=r.json", Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap()))]
fn full_device_is_an_error(#[case] report: &str, #[case] stdout: Stdio) {
    let folder = tempfile::tempdir().unwrap();
    let args = ["conformance", "--filter", "accept.exact-body", "--report", report];
    let child = watched::command(folder.path(), &args).stdout(stdout).spawn().unwrap();
    let output = limited::end(child);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("No space left on device"), "{errors}");
}
