//! `--failed`: the cases that did not pass in the last run, from `.edgeproof/last.json`.

use std::fs;
use std::path::Path;

use edgeproof_reports::Outcome;
use rstest::rstest;

use super::support::Folder;
use crate::broken_edge::command;

const LAST: &str = ".edgeproof/last.json";
const FILTER: [&str; 4] = ["--filter", "cors.readable.4*", "--filter", "accept.exact-body"];

/// Runs the broken edge with this fault. Yields exit code and both outputs.
fn run(folder: &Folder, fault: &str, more: &[&str]) -> (Option<i32>, String) {
    let launch = command(fault);
    let output = folder.run(&[&["conformance", "--launch", &launch], more].concat());
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    (output.status.code(), text)
}

fn ids(folder: &Folder, is_listed: impl Fn(Outcome) -> bool) -> Vec<String> {
    let cases = folder.report(LAST).cases.into_iter().filter(|case| is_listed(case.outcome));
    cases.map(|case| case.id).collect()
}

#[test]
fn failed_plays_what_failed_until_nothing_does() {
    let folder = Folder::new();
    assert_eq!(run(&folder, "as-502", &FILTER).0, Some(1));
    assert_eq!(folder.read(".edgeproof/.gitignore"), "*\n");
    let (all, failed) = (ids(&folder, |_| true), ids(&folder, |outcome| outcome == Outcome::Fail));
    assert!(failed.len() == 5 && all.len() > 5, "{failed:?}");

    // The mistake is mended.
    let (code, text) = run(&folder, "none", &["--failed"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("--failed: 5 cases did not pass in the run of "), "{text}");
    assert!(text.contains("\nagainst .edgeproof/last.json: 5 newly fixed\n"), "{text}");
    assert_eq!(ids(&folder, |_| true), failed);

    let (code, text) = run(&folder, "none", &[&["--failed"], &FILTER[..]].concat());
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("--failed: nothing failed in the run of "), "{text}");
    assert!(text.lines().next().unwrap().ends_with(", so all cases run"), "{text}");
    assert_eq!(ids(&folder, |_| true), all);
}

#[test]
fn without_a_last_run_failed_plays_all_cases() {
    let folder = Folder::new();
    let (code, text) = run(&folder, "none", &["--failed", "--filter", "accept.exact-body"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("--failed: no run in this project is known, so all cases run\n"), "{text}");
}

/// The last run is the JSON report, from which the redactor removed each secret.
#[test]
fn last_run_is_the_json_report_of_the_run() {
    let folder = Folder::new();
    let report = ["--report", "json=r.json", "--filter", "refusal.409.*", "--filter", "monitor.*"];
    assert_eq!(run(&folder, "leaks", &report).0, Some(1));
    assert_eq!(folder.read(LAST), folder.read("r.json"));
    assert!(!folder.read(LAST).contains("service_edge_"), "a license");
    let mut files: Vec<_> =
        fs::read_dir(folder.0.path().join(".edgeproof")).unwrap().map(Result::unwrap).collect();
    files.sort_by_key(fs::DirEntry::file_name);
    assert_eq!(files.iter().map(fs::DirEntry::file_name).collect::<Vec<_>>(), [".gitignore", "last.json"]);
}

/// Runs that test edgeproof itself, and lists of cases, say nothing about the user's target.
#[rstest]
#[case::embedded(&["--filter", "accept.exact-body"])]
#[case::key_set(&["keys", "--filter", "keys.*"])]
#[case::list(&["--launch", "true", "--list"])]
fn run_without_a_target_keeps_nothing(#[case] arguments: &[&str]) {
    let folder = Folder::new();
    let output = folder.run(&[&["conformance"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!folder.0.path().join(".edgeproof").exists());
}

#[rstest]
#[case::file("file")]
#[case::link("link")]
#[case::folder_in_place_of_the_file("folder")]
fn folder_that_cannot_be_written_costs_a_note(#[case] obstacle: &str) {
    let folder = Folder::new();
    let path = folder.0.path();
    fs::create_dir(path.join("elsewhere")).unwrap();
    match obstacle {
        "file" => fs::write(path.join(".edgeproof"), "mine").unwrap(),
        "link" => std::os::unix::fs::symlink("elsewhere", path.join(".edgeproof")).unwrap(),
        _ => fs::create_dir_all(path.join(LAST)).unwrap(),
    }
    let launch = command("none");
    let output = folder.run(&["conformance", "--launch", &launch, "--filter", "accept.exact-body"]);
    let note = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{note}");
    assert!(note.starts_with("note: cannot keep this run for --failed in .edgeproof: "), "{note}");
    assert_eq!(note.lines().count(), 1, "{note}");
    assert_eq!(fs::read_dir(path.join("elsewhere")).unwrap().count(), 0);
}

/// A link in the folder is replaced, and what it leads to stays.
#[test]
fn link_in_place_of_the_file_is_replaced() {
    let folder = Folder::new().with("mine.txt", "mine");
    fs::create_dir(folder.0.path().join(".edgeproof")).unwrap();
    std::os::unix::fs::symlink(Path::new("../mine.txt"), folder.0.path().join(LAST)).unwrap();
    assert_eq!(run(&folder, "none", &["--filter", "accept.exact-body"]).0, Some(0));
    assert_eq!((folder.read("mine.txt").as_str(), folder.report(LAST).exit_code), ("mine", 0));
}

#[rstest]
#[case::cut("{\"schema\": \"edgeproof.report/1\", ", "it is not JSON")]
#[case::newer("{\"schema\": \"edgeproof.report/2\"}", "its schema is `edgeproof.report/2`")]
fn unreadable_last_run_exits_2(#[case] text: &str, #[case] problem: &str) {
    let folder = Folder::new();
    fs::create_dir(folder.0.path().join(".edgeproof")).unwrap();
    let folder = folder.with(LAST, text);
    let output = folder.run(&["conformance", "--launch", "true", "--failed"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains(&format!("cannot read the report {LAST}: {problem}")), "{error}");
    assert!(error.contains("remove the file"), "{error}");
    assert_eq!(folder.read(LAST), text);
}
