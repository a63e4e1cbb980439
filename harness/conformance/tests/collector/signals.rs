//! Nothing is left behind: no process, no profile, no credentials.

use std::path::Path;
use std::process::Stdio;

use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process};

use crate::limited;
use crate::wrapped::folder_with;

/// Processes whose command line names this folder.
fn processes_of(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap().to_owned();
    let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(&folder))
        .collect()
}

#[rstest]
#[case::ctrl_c(Signal::INT, 130)]
#[case::terminated(Signal::TERM, 143)]
fn signal_ends_browser_and_deletes_its_profile(#[case] signal: Signal, #[case] code: i32) {
    // The first session stays open.
    let folder = folder_with("export const create = () => new Promise(() => {});");
    let temporary = tempfile::tempdir().unwrap();
    let args = ["conformance", "collector", "--module", "collector.mjs", "--case-timeout", "10m"];
    let mut command = folder.command(&args);
    command.env("TMPDIR", temporary.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let child =
        limited::until_child(child, "the browser runs", || !processes_of(temporary.path()).is_empty());
    kill_process(Pid::from_child(&child), signal).unwrap();
    let output = limited::end(child);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert_eq!(processes_of(temporary.path()), Vec::<String>::new());
    let left: Vec<_> = std::fs::read_dir(temporary.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn run_leaves_no_process_and_no_file() {
    let folder = folder_with("export { create } from './library.js';");
    let temporary = tempfile::tempdir().unwrap();
    let args = ["conformance", "collector", "--module", "collector.mjs", "--filter", "mode.lite"];
    let mut command = folder.command(&args);
    let output = limited::output(command.env("TMPDIR", temporary.path()));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(folder.files(), ["collector.mjs", "library.js"]);
    assert_eq!(processes_of(temporary.path()), Vec::<String>::new());
    let left: Vec<_> = std::fs::read_dir(temporary.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
