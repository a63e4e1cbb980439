//! Limits of the generator itself, which are never reported as the target's.

use std::process::Command;

use edgeproof_reports::load::LoadState;
use rstest::rstest;

use super::ProgramCall;

#[test]
fn few_open_files_lower_the_default_number_of_users() {
    let program = env!("CARGO_BIN_EXE_edgeproof-load");
    let line = "verdict-polling --rate 200 --duration 1s --warm-up 0s --unchecked --verdict-after 10ms --threshold 'delivered>0%'";
    let limited = format!("ulimit -n 320 && exec {program} {line}");
    let output = Command::new("sh").args(["-c", &limited]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(
        stderr.contains("32 users, fewer than the rate may need: the limit on open files is 320"),
        "{stderr}"
    );
}

#[test]
fn more_users_than_open_files_exit_2() {
    let program = env!("CARGO_BIN_EXE_edgeproof-load");
    let limited = format!("ulimit -n 320 && exec {program} verdict-polling --users 100");
    let output = Command::new("sh").args(["-c", &limited]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("cannot open 456 files: the limit is 320"), "{stderr}");
}

#[test]
fn too_few_given_users_make_the_run_invalid() {
    let line = "edge-relay --rate 100 --users 2 --service-slow 100ms --duration 1s --warm-up 0s --quiet";
    let report = ProgramCall::new(line).run().ended(3);
    assert_eq!((report.state, report.plan.users), (LoadState::Invalid, 2));
    let named = |finding: &String| finding.contains("limited by --users");
    assert!(report.findings.iter().any(named), "{:?}", report.findings);
}

/// The pool of connections must not queue what the service takes at once.
#[rstest]
#[case::default(None)]
#[case::latency_expected(Some("200ms"))]
fn slow_service_does_not_exhaust_the_users(#[case] expect: Option<&str>) {
    let line = "edge-relay --rate 100 --service-slow 200ms --duration 1s --warm-up 0s --unchecked --quiet";
    let mut call = ProgramCall::new(line);
    if let Some(expect) = expect {
        call = call.arg("--expect", expect);
    }
    let report = call.run().ended(0);
    assert_eq!((report.waiting.figures.max_us, report.errors()), (0, 0));
    assert_eq!(report.response.figures.count, 100);
}
