//! The command of a cause, which runs its best example again.

use std::process::Command;

use edgeproof_reports::Outcome;
use rstest::rstest;

use super::support::Folder;
use crate::broken_edge::command;
use crate::limited;

/// The program runs again in the same folder, through a shell, and the same case fails.
#[rstest]
#[case::refusal("hands-on", &["refusal.409.*", "accept.exact-body"])]
#[case::warning("no-allow", &["method.allow"])]
#[case::monitor("leaks", &["monitor.answers", "method.head-length"])]
fn failing_case_fails_again(#[case] fault: &str, #[case] filters: &[&str]) {
    let folder = Folder::new();
    let launch = command(fault);
    let mut args = vec!["conformance", "--launch", &launch, "--strict", "--report", "json=r.json"];
    args.extend(filters.iter().flat_map(|filter| ["--filter", filter]));
    assert_eq!(folder.run(&args).status.code(), Some(1));
    let report = folder.report("r.json");
    let cause = &report.causes[0];
    let (rerun, failed) = (&cause.rerun, cause.cases[0].as_str());

    let here = folder.command(&[]);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{rerun} --report json=again.json")]);
    let output = limited::output(shell.current_dir(here.get_current_dir().unwrap()));
    assert_eq!(output.status.code(), Some(1), "{rerun}\n{output:?}");
    let again = folder.report("again.json");
    let outcome = |id: &str| again.cases.iter().find(|case| case.id == id).unwrap().outcome;
    assert!(matches!(outcome(failed), Outcome::Fail | Outcome::Warn), "{rerun}");
    assert!(again.cases.len() <= 2, "{rerun}");
}
