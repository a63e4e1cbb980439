//! `--write-baseline`: the failures of a run as the lines of a baseline.

use std::fs;

use super::support::{Folder, check};
use crate::broken_edge::command;

const FILTER: [&str; 6] =
    ["--filter", "cors.readable.4*", "--filter", "accept.exact-body", "--filter", "method.allow"];

/// Runs the edge with this fault. Yields exit code and both outputs.
fn run(folder: &Folder, fault: &str, more: &[&str]) -> (Option<i32>, String, String) {
    let launch = command(fault);
    let output = folder.run(&[&["conformance", "--launch", &launch], &FILTER[..], more].concat());
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), out, err)
}

/// Lines of the file without its comments, which name target and time.
fn lines(folder: &Folder, name: &str) -> String {
    let text = folder.read(name);
    text.split_inclusive('\n').filter(|line| !line.starts_with('#')).collect()
}

#[test]
fn same_run_with_the_written_baseline_exits_0_and_names_its_open_reasons() {
    let folder = Folder::new();
    let (code, _, note) = run(&folder, "as-502", &["--write-baseline", "known.txt"]);
    assert_eq!(code, Some(1), "{note}");
    let (again, out, _) = run(&folder, "as-502", &["--baseline", "known.txt"]);
    assert_eq!(again, Some(0), "{out}");
    let finding = out.lines().skip_while(|line| *line != "Findings").nth(1).unwrap();
    let result = out.lines().last().unwrap();
    check("new_baseline", &[&note, &*lines(&folder, "known.txt"), finding, result].join("\n"));

    // A completed reason is no finding.
    fs::write(folder.0.path().join("known.txt"), folder.read("known.txt").replace("TODO", "until 2.0:"))
        .unwrap();
    let (code, out, _) = run(&folder, "as-502", &["--baseline", "known.txt"]);
    assert_eq!((code, out.contains("Findings")), (Some(0), false), "{out}");
}

#[test]
fn strict_baseline_accepts_warnings() {
    let folder = Folder::new();
    let (code, _, note) = run(&folder, "no-allow", &["--strict", "--write-baseline", "known.txt"]);
    assert_eq!(code, Some(1), "{note}");
    assert!(lines(&folder, "known.txt").starts_with("method.allow  TODO "), "{note}");
    let (code, out, _) = run(&folder, "no-allow", &["--strict", "--baseline", "known.txt"]);
    assert_eq!(code, Some(0), "{out}");
}

/// With `--baseline`, only what it does not list is written: lines to append.
#[test]
fn only_failures_that_are_not_known_are_written() {
    let folder = Folder::new().with("known.txt", "cors.readable.4*  the proxy in front, until 2.0\n");
    let options = ["--baseline", "known.txt", "--write-baseline", "new.txt"];
    let (code, _, note) = run(&folder, "as-502", &options);
    assert_eq!(code, Some(0), "{note}");
    assert_eq!(note, "no baseline new.txt written: nothing failed\n");
    assert_eq!(folder.files(), ["known.txt"]);
}

#[test]
fn existing_file_stays() {
    let folder = Folder::new().with("known.txt", "mine");
    let (code, out, error) = run(&folder, "as-502", &["--write-baseline", "known.txt"]);
    assert_eq!((code, out.as_str(), folder.read("known.txt").as_str()), (Some(2), "", "mine"), "{error}");
    assert!(error.contains("cannot write the baseline known.txt: it exists"), "{error}");
}
