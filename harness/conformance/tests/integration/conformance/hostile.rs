//! A hostile edge fails only the cases that meet it, in bounded time and memory.

use std::time::{Duration, Instant};

use edgeproof_reports::Outcome;
use rstest::rstest;

use super::support::{Folder, case, ids};
use crate::broken_edge::command;
use crate::hostile::harmless::was_too_busy;

/// Cases that send a `PUT`, which the hostile edges mistreat.
const PUT_CASES: [&str; 3] = ["cors.readable.405", "method.allow", "method.put"];

#[rstest]
#[case::never_answers("silent", &["connection still open"])]
#[case::answers_forever("endless", &["body longer than 4194304 bytes", "cut off"])]
#[case::floods_headers("flood", &["no HTTP answer", "no answer within"])]
#[case::sends_garbage("garbage", &["no HTTP answer"])]
#[case::dies("dies", &["connection closed without an answer"])]
fn hostile_answer_fails_only_its_cases(#[case] fault: &str, #[case] observed: &[&str]) {
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
        // A slow machine needs more than the timeout for its many requests.
        "--exclude",
        "cors.readable.reasons",
        "--filter",
        "refusal.401.*",
        "--filter",
        "sanity.*",
        "--case-timeout",
        "3s",
    ]);
    // A busy machine takes several times the usual four seconds.
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    let put = case(&report, "method.put");
    // The other tests may use the processors while the edge is silent.
    let too_busy = was_too_busy(put);
    assert!(report.exit_code == 1 || too_busy, "{report:?}");
    let mut hit = ids(&report, &[Outcome::Fail, Outcome::Warn, Outcome::NotRun]);
    hit.sort();
    assert_eq!(hit, PUT_CASES, "{report:?}");
    assert!(put.outcome == Outcome::Fail || too_busy, "{report:?}");
    assert!(
        too_busy
            || put
                .mismatches
                .iter()
                .any(|mismatch| observed.iter().any(|text| mismatch.actual.contains(text))),
        "{:?}",
        put.mismatches
    );
    // The report holds only the beginning of the answers.
    let shown: usize = put.exchanges.iter().map(|exchange| exchange.response.len()).sum();
    assert!(shown < 100_000, "{shown} bytes of answers in a report");
}

#[test]
fn death_of_the_edge_is_reported_with_its_last_output() {
    let folder = Folder::new();
    let report =
        folder.conform(&["--launch", &command("dies"), "--filter", "method.put", "--filter", "method.get"]);
    let put = case(&report, "method.put");
    let death = put.mismatches.iter().find(|mismatch| mismatch.what == "the edge").unwrap();
    assert!(death.actual.starts_with("it died after PUT /v1/signals "), "{}", death.actual);
    assert!(death.actual.ends_with(": it exited by itself with exit status: 7"), "{}", death.actual);
    let edge = put.edge.as_ref().unwrap();
    assert!(edge.log.contains(&"dying of a request".to_owned()), "{:?}", edge.log);
    assert_eq!(case(&report, "method.get").outcome, Outcome::Pass);
}

#[rstest]
fn program_without_http_exits_3(
    #[values("sh -c 'exec sleep 600'", "sh -c 'yes | head -c 1000000; exec sleep 600'")] launch: &str,
) {
    let folder = Folder::new();
    let report = folder.conform(&["--launch", launch, "--ready-timeout", "300ms"]);
    assert_eq!(report.exit_code, 3);
    assert_eq!(report.summary.not_run + report.summary.not_applicable, report.summary.planned);
}
