//! `edgeproof report matrix`: several runs side by side.

use edgeproof_fixtures::spec::Spec;

use super::spec_reports::{report, with_unusable_reports};
use super::support::{Folder, check};

const NODE: &[(&str, &str, &str, &str)] = &[
    ("accept.exact-body", "edge.200.accepted", "pass", ""),
    ("accept.readable", "edge.200.accepted", "pass", ""),
    ("relay.body.compact", "statement.body-unchanged", "pass", ""),
];
const PYTHON: &[(&str, &str, &str, &str)] = &[
    ("accept.exact-body", "edge.200.accepted", "fail", "status: expected 200, got 502"),
    ("accept.readable", "edge.200.accepted", "pass", ""),
    ("relay.body.compact", "statement.body-unchanged", "pass", ""),
    ("http2.post", "statement.http2", "not-applicable", "requires an edge that serves https"),
];

fn folder() -> Folder {
    let digest = Spec::current().digest();
    let python = report(PYTHON, digest);
    let folder = Folder::new();
    std::fs::create_dir(folder.0.path().join("out")).unwrap();
    with_unusable_reports(folder, &python)
        .with("node.json", &report(NODE, digest))
        .with("out/python.json", &python)
        .with("keys.json", &report(&[("keys.shape", "keys.shape", "pass", "")], digest))
}

#[test]
fn runs_stand_side_by_side_in_each_form() {
    let folder = folder();
    let forms = [&[][..], &["--format", "markdown"], &["--format", "json"]];
    let args = ["report", "matrix", "node.json", "Python 3=out/python.json"];
    let seen = forms.map(|form| folder.seen(&[&args[..], form].concat()));
    let [digest, short] = [Spec::current().digest(), &Spec::current().digest()[..12]];
    check("report_matrix", &seen.join("\n").replace(digest, "DIGEST").replace(short, "DIGEST"));
    let page = String::from_utf8(folder.run(&[&args[..], &["--format", "html"]].concat()).stdout).unwrap();
    assert!(
        page.contains("<td data-name=\"Python 3\"><span class=\"mark fail\">fail 1 of 2</span></td>"),
        "{page}"
    );
}

#[test]
fn report_matrix_help_lists_forms_and_exit_codes() {
    check("help_report_matrix", &Folder::new().seen(&["report", "matrix", "--help"]));
}

#[test]
fn reports_that_fit_in_no_matrix_exit_2() {
    let folder = folder();
    let seconds = [
        "other.json",
        "newer.json",
        "cut.json",
        "keys.json",
        "missing.json",
        "./node.json",
        "=out/python.json",
        "x=",
    ];
    let seen = seconds.map(|name| folder.seen(&["report", "matrix", "node.json", name]));
    let twice = folder.seen(&["report", "matrix", "x=node.json", "x=out/python.json"]);
    let text = [&seen[..], &[twice]].concat().join("\n");
    assert_eq!(text.matches("--- stdout").count(), 0, "{text}");
    check("report_matrix_invalid", &text.replace(&Spec::current().digest()[..12], "DIGEST"));
}
