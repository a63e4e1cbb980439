//! Edges that cannot be proven, or are wrong: what the user is told, in full.

use crate::golden::{Folder, check, seen};
use crate::program::command;

/// Few cases: how many could not run is told at other places.
const FEW: &str = "accept.{exact-body,content-type}";

#[test]
fn an_edge_that_does_not_get_up() {
    let folder = Folder::new();
    let texts = ["false", "sh -c 'echo getting up; echo no port for me; exit 3'"]
        .map(|launch| folder.seen(&["conformance", "--launch", launch, "--filter", FEW]));
    check("launch_ends_early", &texts.join("\n"));
    let slow = ["conformance", "--launch", "sleep 600", "--ready-timeout", "200ms", "--filter", FEW];
    check("launch_never_ready", &folder.seen(&slow));
}

#[test]
fn an_edge_that_is_not_there() {
    let folder = Folder::new();
    let texts = [
        folder.seen(&["conformance", "--url", "http://127.0.0.1:9", "--filter", FEW]),
        folder.seen(&["conformance", "http://edge.invalid", "--filter", FEW]),
    ];
    // What a resolver says differs from system to system.
    let text = cut_after(&texts.join("\n"), "resolve \"edge.invalid\": ");
    check("url_not_there", &text);
}

/// Cuts lines after `start`: how they go on is worded by the system.
fn cut_after(text: &str, start: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        match line.find(start) {
            Some(at) => lines.push(format!("{}…", &line[..at + start.len()])),
            None => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

#[test]
fn a_run_that_could_not_prove_anything_says_so_in_its_report() {
    let folder = Folder::new();
    let args = ["conformance", "--launch", "sh -c 'echo getting up; exit 3'", "--report", "json=r.json"];
    assert_eq!(folder.run(&args).status.code(), Some(3));
    let report = folder.report("r.json");
    assert_eq!(report.exit_code, 3);
    assert_eq!(report.summary.planned, report.cases.len());
    assert_eq!(report.summary.planned, report.summary.not_run + report.summary.not_applicable);
    assert!(report.findings[0].contains("\n  | getting up\n"), "{:?}", report.findings);
}

/// The block for a failure: id, title, section, level, basis, every mismatch, curl, both hops, settings, log.
#[test]
fn a_failure_is_told_in_full() {
    let folder = Folder::new();
    for fault in ["hands-on", "as-502"] {
        let launch = command(fault);
        let args = ["conformance", "--launch", &launch, "--filter", "refusal.409.*"];
        let output = folder.run(&args);
        assert_eq!(output.status.code(), Some(1));
        let text = seen(&["conformance", "--launch", "…", "--filter", "refusal.409.*"], &output);
        check(&format!("failure_{fault}"), &text.replace(&launch, "COMMAND"));
    }
}
