//! Hostile edges, launched by the program.

use edgeproof_reports::{CaseReport, Outcome};
use rstest::rstest;

use super::harmless::{self, was_too_busy};
use super::hostility::{QUICK, SLOW};
use super::program::{BROOD, command, ignoring_sigterm};
use super::watched::{Ran, alive, bounded};
use crate::together::together;

/// Cases that reach a hostile edge after the first collections.
const CASES: [&str; 6] =
    ["--filter", "accept.exact-body", "--filter", "cors.readable.409", "--filter", "method.put"];
const LIMITS: [&str; 5] = ["--case-timeout", "4s", "--color", "never", "--verbose"];

fn against(name: &str, launch: &str, more: &[&str]) -> Ran {
    bounded(&format!("edge {name}"), &[&["--launch", launch], &CASES[..], &LIMITS[..], more].concat())
}

/// Part of the message about an answer.
fn message(hostility: &str) -> &'static str {
    match hostility {
        "endless-headers" => "head longer than 65536 bytes",
        "endless-header" => "65536 bytes",
        "gigabyte" | "announces-gigabyte" | "chunk-past-2-64" => "4194304 bytes",
        "garbage" | "invalid-utf8" => "no HTTP answer",
        "endless-interim" | "endless-trailers" => "more than 256 interim answers or trailer lines",
        "drips" | "mute" | "deaf-mute" => "no answer within 2s",
        "endless-chunks" => "",
        "invalid-utf8-body" | "deep" | "many-members" | "markup" => "409",
        other => panic!("no such hostility: {other}"),
    }
}

fn blamed(hostility: &str) {
    let ran = against(hostility, &command(hostility, ""), &[]);
    let report = harmless::check_all_failed(&ran);
    // On a busy machine one of the first collections may be late, so that another case is served instead.
    let all: Vec<_> = report.cases.iter().map(|case| case.because.as_str()).collect();
    let tells = |case: &CaseReport| case.because.contains(message(hostility)) || was_too_busy(case);
    assert!(report.cases.iter().any(tells), "{hostility}: {all:?}");
}

#[test]
fn hostile_edge_fails_in_bounded_time() {
    together(QUICK, blamed);
}

#[test]
fn endless_edge_fails_in_bounded_time() {
    together(SLOW, blamed);
}

/// The cases that did not begin are not run: each would wait as long as the first ones. While the other tests use the
/// processors, a missing answer proves nothing, and no case counts.
#[test]
fn edge_that_hangs_ends_the_run_with_one_finding() {
    let launch = command("mute", "");
    let cases = ["--filter", "refusal.401.*"];
    let args = [&["--launch", &launch], &cases[..], &LIMITS[..]].concat();
    let ran = bounded("edge that hangs", &args);
    let report = harmless::check(&ran);
    assert_ne!(ran.code(), Some(0), "{}", ran.out());
    if !report.cases.iter().any(was_too_busy) {
        assert!(report.summary.not_run > 0, "{}", ran.out());
        assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
    }
    for finding in &report.findings {
        for words in ["it hangs since POST ", "answered nothing for ", "a slot or a lock"] {
            assert!(finding.contains(words), "{finding}");
        }
    }
}

#[test]
fn inconsistent_edge_fails() {
    let ran = against("fickle", &command("fickle", ""), &["--repeat", "3"]);
    assert_eq!(ran.code(), Some(1));
    harmless::check(&ran);
}

/// Edges that conform, but flood their log or start children.
#[rstest]
#[case("forks")]
#[case("fills-stdout")]
#[case("fills-a-line")]
fn conforming_edge_leaves_no_process(#[case] hostility: &str) {
    let brood = format!("{BROOD}={hostility}-{}", std::process::id());
    let ran = against(hostility, &ignoring_sigterm(hostility, &brood), &[]);
    assert_eq!(ran.code(), Some(0), "{}", ran.out());
    harmless::check(&ran);
    assert_eq!(alive(&brood), [] as [String; 0]);
}

/// The edge may hang or the machine may be slow: the case is not run, not failed.
#[test]
fn edge_silent_with_some_settings_exits_3() {
    let edge = command("calls", "");
    let launch = format!("sh -c '[ -n \"$LICENSE\" ] || exec sleep 1000; exec {edge}'");
    let cases = ["--filter", "accept.exact-body", "--filter", "credentials.end-to-end.without-license"];
    let args = [&["--launch", &launch, "--ready-timeout", "5s"], &cases[..]].concat();
    let ran = bounded("edge silent with some settings", &args);
    assert_eq!(ran.code(), Some(3), "{}", ran.out());
    let report = harmless::check(&ran);
    let outcomes: Vec<_> = report.cases.iter().map(|case| case.outcome).collect();
    assert_eq!(outcomes, [Outcome::Pass, Outcome::NotRun]);
    assert!(report.cases[1].because.contains("--ready-timeout"), "{}", report.cases[1].because);
}

/// One finding explains all cases.
#[rstest]
#[case::wrong_url("SERVICE_URL=https://127.0.0.1:1")]
#[case::wrong_authority("SERVICE_CA_FILE=\"$EDGE_CLIENT_CERT_FILE\"")]
fn edge_that_never_reaches_the_service_is_one_finding(#[case] setting: &str) {
    let line = format!("echo a line of its log; {setting} exec {}", command("calls", ""));
    let launch = format!("sh -c {}", shell_words::quote(&line));
    let ran = bounded("edge that never reaches the service", &["--launch", &launch]);
    assert_eq!(ran.code(), Some(3), "{}", ran.out());
    let report = harmless::check(&ran);
    let [finding] = &report.findings[..] else { panic!("{:?}", report.findings) };
    for words in ["does not reach the mock service", "502", "EDGE_CLIENT_KEY_FILE", "| a line of its log"] {
        assert!(finding.contains(words), "{finding}");
    }
    assert_eq!(report.summary.not_run + report.summary.not_applicable, report.summary.planned);
}
