//! Full output for edges that cannot be judged, or that fail.

use std::net::ToSocketAddrs;

use edgeproof_reports::Confirmation;

use super::support::{Folder, check, seen};
use crate::broken_edge::command;

/// Few cases, for short snapshots.
const FEW: &str = "accept.{exact-body,content-type}";

#[test]
fn launch_failure_is_shown_with_last_output() {
    let folder = Folder::new();
    let texts = ["false", "sh -c 'echo getting up; echo no port for me; exit 3'"]
        .map(|launch| folder.seen(&["conformance", "--launch", launch, "--filter", FEW]));
    check("launch_ends_early", &texts.join("\n"));
    let slow = ["conformance", "--launch", "sleep 600", "--ready-timeout", "200ms", "--filter", FEW];
    check("launch_never_ready", &folder.seen(&slow));
}

/// Quotes, backslashes and other scripts stay as written; only control characters are escaped.
#[test]
fn log_lines_are_shown_as_written() {
    let line = r#"{"level":"error","path":"C:\\edge","who":"it's übel 日本"}"#;
    let folder = Folder::new().with("log.txt", &format!("{line}\nbell \x07 end\n"));
    let launch = "sh -c 'cat log.txt; exit 3'";
    let args = ["conformance", "--launch", launch, "--filter", FEW];
    let reports = ["--report", "json=r.json", "junit=r.xml", "html=r.html", "markdown=r.md"];
    let output = folder.run(&[&args[..], &reports].concat());
    assert_eq!(output.status.code(), Some(3));
    let terminal = String::from_utf8(output.stdout).unwrap();
    let finding = &folder.report("r.json").findings[0];
    for text in [&terminal, finding, &folder.read("r.md")] {
        assert!(text.contains(&format!("| {line}\n")), "{text}");
        assert!(text.contains("| bell \\x07 end\n"), "{text}");
    }
    let html = folder.read("r.html").replace("&#34;", "\"").replace("&#39;", "'");
    assert!(html.contains(&format!("| {line}\n")), "{html}");
}

/// The command that is printed repeats it.
#[test]
fn failure_that_needs_an_earlier_case_names_it() {
    let folder = Folder::new();
    let launch = command("no-allow-after-429");
    let args = ["conformance", "--launch", &launch, "--jobs", "1", "--strict"];
    let few = ["--filter", "refusal.unlisted.*", "--filter", "method.allow", "--filter", FEW];
    let report = ["--report", "json=r.json"];
    assert_eq!(folder.run(&[&args[..], &few, &report].concat()).status.code(), Some(1));
    let run = folder.report("r.json");
    let failed = run.cases.iter().find(|case| case.id == "method.allow").unwrap();
    let needed = Confirmation::OnlyAfter(vec!["refusal.unlisted.429".into()]);
    assert_eq!(failed.confirmed, Some(needed));
    assert_eq!(run.causes[0].id, "state-kept");
    let again = " --filter refusal.unlisted.429 --filter method.allow --jobs 1";
    assert!(run.causes[0].rerun.ends_with(again), "{}", run.causes[0].rerun);
    let needed = ["--filter", "refusal.unlisted.429", "--filter", "method.allow"];
    check("needs_an_earlier_case", &folder.seen(&[&args[..], &needed].concat()));
    assert_eq!(folder.run(&[&args[..], &needed[2..]].concat()).status.code(), Some(0));
}

#[test]
fn unreachable_url_is_shown_with_advice() {
    let folder = Folder::new();
    let texts = [
        folder.seen(&["conformance", "--url", "http://127.0.0.1:9", "--filter", FEW]),
        folder.seen(&["conformance", "http://edge.invalid", "--filter", FEW]),
    ];
    // The resolver's message differs between systems.
    let why = ("edge.invalid", 80).to_socket_addrs().unwrap_err().to_string();
    check("url_not_there", &without(&texts.join("\n"), "resolve \"edge.invalid\": ", &why));
}

/// Cuts `words` after each `start`, however the terminal breaks their lines.
fn without(text: &str, start: &str, words: &str) -> String {
    let mut parts = text.split(start);
    let mut cut = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let strip = |rest: &'_ str, word: &str| rest.trim_start().strip_prefix(word).map(str::to_owned);
        let rest = words.split_whitespace().try_fold(part.to_owned(), |rest, word| strip(&rest, word));
        cut = cut + start + "…" + &rest.unwrap_or_else(|| panic!("no {words:?}: {part}"));
    }
    cut
}

#[test]
fn report_of_an_incomplete_run_has_exit_code_3() {
    let folder = Folder::new();
    let args = ["conformance", "--launch", "sh -c 'echo getting up; exit 3'", "--report", "json=r.json"];
    assert_eq!(folder.run(&args).status.code(), Some(3));
    let report = folder.report("r.json");
    assert_eq!(report.exit_code, 3);
    assert_eq!(report.summary.planned, report.cases.len());
    assert_eq!(report.summary.planned, report.summary.not_run + report.summary.not_applicable);
    assert!(report.findings[0].contains("\n  | getting up\n"), "{:?}", report.findings);
}

/// With `--details` a failure shows id, title, section, level, basis, all mismatches, curl, both hops, settings and log.
#[test]
fn failure_is_shown_in_full_with_details() {
    let folder = Folder::new();
    for fault in ["hands-on", "as-502"] {
        check(&format!("failure_{fault}"), &shown(&folder, fault, &["--details"]));
    }
}

#[test]
fn failure_is_shown_in_few_lines() {
    check("failure_in_few_lines", &shown(&Folder::new(), "hands-on", &[]));
}

/// Output of a run against an edge with a fault.
fn shown(folder: &Folder, fault: &str, more: &[&str]) -> String {
    let launch = command(fault);
    let args = |launch| [&["conformance", "--launch", launch, "--filter", "refusal.409.*"], more].concat();
    let output = folder.run(&args(&launch));
    assert_eq!(output.status.code(), Some(1));
    seen(&args("…"), &output).replace(&launch, "COMMAND")
}
