//! `edgeproof report diff`: what the target broke, and what edgeproof checks more.

use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_reports::ReportedSpec;

use super::spec_reports::{report, with_unusable_reports};
use super::support::{Folder, check};
use crate::broken_edge::command;

const OLD: &[(&str, &str, &str, &str)] = &[
    ("accept.exact-body", "edge.200.accepted", "pass", ""),
    ("accept.readable", "edge.200.accepted", "fail", "the answer has no grant"),
    ("http2.post", "statement.http2", "not-applicable", "requires an edge that serves https"),
];
const NEW: &[(&str, &str, &str, &str)] = &[
    ("accept.exact-body", "edge.200.accepted", "fail", "status: expected 200, got 502"),
    ("accept.readable", "edge.200.accepted", "pass", ""),
    ("relay.body.compact", "statement.body-unchanged", "fail", "body: expected {}, got { }"),
    ("http2.post", "statement.http2", "not-applicable", "requires an edge that serves https"),
];

fn folder() -> Folder {
    let digest = Spec::current().digest();
    let new = report(NEW, digest).replace("\"0.1.0\"", "\"0.2.0\"");
    with_unusable_reports(Folder::new(), &new)
        .with("old.json", &report(OLD, digest))
        .with("new.json", &new)
        .with("keys.json", &report(&[("keys.shape", "keys.shape", "pass", "")], digest))
}

#[test]
fn newly_broken_case_exits_1_in_each_form() {
    let folder = folder();
    let forms = [&[][..], &["--format", "markdown"], &["--format", "json"]];
    let seen = forms.map(|form| folder.seen(&[&["report", "diff", "old.json", "new.json"], form].concat()));
    check("report_diff", &seen.join("\n").replace(Spec::current().digest(), "DIGEST"));
}

#[test]
fn report_diff_help_lists_exit_codes() {
    check("help_report_diff", &Folder::new().seen(&["report", "diff", "--help"]));
}

#[test]
fn fixed_cases_and_new_checks_exit_0() {
    let digest = Spec::current().digest();
    let fixed = &[OLD[0], ("accept.readable", "edge.200.accepted", "pass", ""), NEW[2], OLD[2]];
    let folder = folder().with("fixed.json", &report(fixed, digest).replace("\"0.1.0\"", "\"0.2.0\""));
    check("report_diff_fixed", &folder.seen(&["report", "diff", "old.json", "fixed.json"]));
}

/// After an upgrade of edgeproof the tables of a version may differ.
#[test]
fn reports_of_two_releases_are_compared() {
    let folder = folder().with("older.json", &report(OLD, "0123456789abcdef"));
    let forms = [&[][..], &["--format", "markdown"], &["--format", "json"]];
    let seen = forms.map(|form| folder.seen(&[&["report", "diff", "older.json", "new.json"], form].concat()));
    let [digest, short] = [Spec::current().digest(), &Spec::current().digest()[..12]];
    check("report_diff_releases", &seen.join("\n").replace(digest, "DIGEST").replace(short, "DIGEST"));
}

#[test]
fn tables_of_one_built_in_version_can_be_compared() {
    let spec = |version: &str, digest: &str| ReportedSpec { version: version.into(), digest: digest.into() };
    for version in Version::ALL {
        assert!(spec(version.name(), "0").is_comparable(&spec(version.name(), "1")), "{version}");
    }
    assert!(!spec("next", "0").is_comparable(&spec("next", "1")));
    assert!(!spec("current", "0").is_comparable(&spec("pre-seal", "1")));
}

#[test]
fn reports_that_cannot_be_compared_exit_2() {
    let folder = folder();
    let seen = ["other.json", "newer.json", "cut.json", "keys.json", "missing.json", "./old.json"]
        .map(|name| folder.seen(&["report", "diff", "old.json", name]));
    check("report_diff_invalid", &seen.join("\n").replace(&Spec::current().digest()[..12], "DIGEST"));
}

/// Runs of a right edge and of a broken one, and the failed cases again.
#[test]
fn runs_of_the_program_are_compared() {
    let folder = Folder::new();
    let (right, broken) = (command("none"), command("hands-on"));
    let run = |launch: &str, name: &str, more: &[&str]| {
        let report = format!("json={name}");
        let args = ["conformance", "--launch", launch, "--report", &report];
        folder.run(&[&args[..], more].concat()).status.code()
    };
    let filter = ["--filter", "refusal.409.*", "--filter", "accept.exact-body"];
    assert_eq!(run(&right, "old.json", &filter), Some(0));
    assert_eq!(run(&broken, "new.json", &filter), Some(1));
    assert_eq!(folder.run(&["report", "diff", "old.json", "new.json"]).status.code(), Some(1));
    assert_eq!(folder.run(&["report", "diff", "new.json", "old.json"]).status.code(), Some(0));

    let again = folder.run(&["conformance", "--launch", &right, "--rerun-failed", "new.json"]);
    let text = String::from_utf8(again.stdout).unwrap();
    assert!(text.contains("\nagainst new.json: ") && text.contains(" newly fixed\n"), "{text}");
}
