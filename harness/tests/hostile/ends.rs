//! Ends that come from outside, beyond signals to the program: a full disk, a killed edge, a killed program.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

use reports::Outcome;
use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::program::{BROOD, call, command, deaf};
use crate::watched;

/// Waits for the edge to get to the middle of a case. Its process id, and the connection that ends with it.
fn called(caller: &TcpListener) -> (Pid, BufReader<TcpStream>) {
    let mut edge = BufReader::new(caller.accept().unwrap().0);
    let mut line = String::new();
    edge.read_line(&mut line).unwrap();
    (Pid::from_raw(line.trim().parse().unwrap()).unwrap(), edge)
}

fn files(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A run that stops within the case `method.put`.
fn run_into_put(folder: &TempDir, launch: &str) -> Child {
    let args = [
        "conformance",
        "--launch",
        launch,
        "--filter",
        "method.put",
        "--filter",
        "method.get",
        "--case-timeout",
        "10m",
        "--report",
        "json=r.json",
        "--report",
        "junit=r.xml",
    ];
    watched::command(folder.path(), &args).spawn().unwrap()
}

/// Somebody kills the edge while a case runs: that case fails and says so, the next one gets another edge.
#[test]
fn a_killed_edge_fails_the_case_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let caller = TcpListener::bind("127.0.0.1:0").unwrap();
    let child = run_into_put(&folder, &command("calls", &call(caller.local_addr().unwrap())));
    // It dies in company first, and then alone.
    let killing = std::thread::spawn(move || {
        for _ in 0..2 {
            let (pid, mut edge) = called(&caller);
            kill_process(pid, Signal::KILL).unwrap();
            let _ = edge.read_to_end(&mut Vec::new());
        }
    });
    let output = child.wait_with_output().unwrap();
    killing.join().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
    let report = reports::Report::load(&folder.path().join("r.json")).unwrap();
    let put = report.cases.iter().find(|case| case.id == "method.put").unwrap();
    assert_eq!(put.outcome, Outcome::Fail);
    assert!(
        put.mismatches.iter().any(|mismatch| mismatch.actual.contains("signal: 9")),
        "{:?}",
        put.mismatches
    );
    let get = report.cases.iter().find(|case| case.id == "method.get").unwrap();
    assert_eq!(get.outcome, Outcome::Pass, "{}", get.because);
}

/// Nothing can be done on SIGKILL, except to leave no half of a report behind.
#[test]
fn a_killed_run_leaves_no_part_of_a_report() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("r.json"), "the report of the last run").unwrap();
    let caller = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut child = run_into_put(&folder, &command("calls", &call(caller.local_addr().unwrap())));
    let (edge, _connection) = called(&caller);
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    // The edge that nobody ends now.
    kill_process(edge, Signal::KILL).unwrap();
    assert_eq!(files(&folder), ["r.json"]);
    assert_eq!(fs::read_to_string(folder.path().join("r.json")).unwrap(), "the report of the last run");
}

/// Also with children that left its process group, and deaf to SIGTERM.
#[rstest]
#[case::ctrl_c(Signal::INT, 130)]
#[case::terminated(Signal::TERM, 143)]
fn a_signal_leaves_nothing_of_an_edge_that_does_not_want_to_go(#[case] signal: Signal, #[case] code: i32) {
    let folder = tempfile::tempdir().unwrap();
    let caller = TcpListener::bind("127.0.0.1:0").unwrap();
    let brood = format!("{BROOD}=signal-{code}-{}", std::process::id());
    let call = call(caller.local_addr().unwrap());
    let child = run_into_put(&folder, &deaf("forks", &format!("{brood} {call}")));
    let (_, mut edge) = called(&caller);
    kill_process(Pid::from_child(&child), signal).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let _ = edge.read_to_end(&mut Vec::new());
    assert_eq!(watched::alive(&brood), [] as [String; 0]);
    let report = reports::Report::load(&folder.path().join("r.json")).unwrap();
    assert_eq!(i32::from(report.exit_code), code);
}

/// A disk without space left takes a few bytes of the new report: the old one stays, and the run is no success.
#[test]
fn a_full_disk_keeps_the_report_that_was_there() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("r.json"), "the report of the last run").unwrap();
    // A limit on the size of files is as much of a full disk as a test can have: writing fails half way.
    let line = r#"trap "" XFSZ; ulimit -f 4; exec "$@""#;
    let output = Command::new("bash")
        .args(["-c", line, "bash", env!("CARGO_BIN_EXE_edgeproof"), "conformance", "--filter", "accept.*"])
        .args(["--report", "json=r.json", "--report", "junit=r.xml"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.starts_with("failed to write a report: "), "{errors}");
    assert!(errors.contains("r.json") && errors.contains("File too large"), "{errors}");
    assert_eq!(fs::read_to_string(folder.path().join("r.json")).unwrap(), "the report of the last run");
    // The other one was short enough; nothing temporary is left.
    assert_eq!(files(&folder), ["r.json", "r.xml"]);
}

#[rstest]
#[case::a_report("json=/dev/full", Stdio::piped())]
#[case::standard_output("json=r.json", Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap()))]
fn a_device_without_space_is_told(#[case] report: &str, #[case] stdout: Stdio) {
    let folder = tempfile::tempdir().unwrap();
    let args = ["conformance", "--filter", "accept.exact-body", "--report", report];
    let child = watched::command(folder.path(), &args).stdout(stdout).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("No space left on device"), "{errors}");
}
