//! Edges that misbehave cost their own cases, in bounded time and memory, and never the run.

use std::time::{Duration, Instant};

use edgeproof_reports::Outcome;
use rstest::rstest;

use crate::program::command;
use crate::support::{Folder, case, ids};

/// They treat `PUT` badly; these cases send one.
const HIT: [&str; 3] = ["cors.readable.405", "method.allow", "method.put"];

#[rstest]
#[case::never_answers("silent", &["no answer within 500ms, connection still open"])]
#[case::answers_forever("endless", &["body longer than 4194304 bytes", "cut off"])]
#[case::floods_headers("flood", &["no HTTP answer", "no answer within"])]
#[case::sends_garbage("garbage", &["no HTTP answer"])]
#[case::dies("dies", &["connection closed without an answer"])]
fn a_case_is_lost_and_no_more(#[case] fault: &str, #[case] saw: &[&str]) {
    let folder = Folder::new();
    let launch = command(fault);
    let began = Instant::now();
    let report = folder.conform(&[
        "--launch",
        &launch,
        "--filter",
        "method.*",
        "--filter",
        "cors.readable.*",
        "--filter",
        "refusal.401.*",
        "--filter",
        "sanity.*",
        "--case-timeout",
        "1s",
    ]);
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(report.exit_code, 1);
    let mut hit = ids(&report, &[Outcome::Fail, Outcome::Warn, Outcome::NotRun]);
    hit.sort();
    assert_eq!(hit, HIT, "{report:?}");
    let put = case(&report, "method.put");
    assert_eq!(put.outcome, Outcome::Fail);
    assert!(
        put.mismatches.iter().any(|mismatch| saw.iter().any(|saw| mismatch.actual.contains(saw))),
        "{:?}",
        put.mismatches
    );
    // What came is shown, as far as it is of use.
    let shown: usize = put.exchanges.iter().map(|exchange| exchange.response.len()).sum();
    assert!(shown < 100_000, "{shown} bytes of answers in a report");
}

/// The end of a program is told as such, with what it said last.
#[test]
fn an_edge_that_dies_is_told_to_have_died() {
    let folder = Folder::new();
    let report =
        folder.conform(&["--launch", &command("dies"), "--filter", "method.put", "--filter", "method.get"]);
    let put = case(&report, "method.put");
    let death = put.mismatches.iter().find(|mismatch| mismatch.what == "the edge").unwrap();
    assert_eq!(death.actual, "it exited by itself with exit status: 7");
    let edge = put.edge.as_ref().unwrap();
    assert!(edge.log.contains(&"dying of a request".to_owned()), "{:?}", edge.log);
    assert_eq!(case(&report, "method.get").outcome, Outcome::Pass);
}

/// Even where all are lost, the run comes to its end.
#[rstest]
fn a_program_that_speaks_no_http_proves_nothing(
    #[values("sh -c 'exec sleep 600'", "sh -c 'yes | head -c 1000000; exec sleep 600'")] launch: &str,
) {
    let folder = Folder::new();
    let report = folder.conform(&["--launch", launch, "--ready-timeout", "300ms"]);
    assert_eq!(report.exit_code, 3);
    assert_eq!(report.summary.not_run + report.summary.not_applicable, report.summary.planned);
}
