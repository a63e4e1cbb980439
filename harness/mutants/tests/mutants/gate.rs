use edgeproof_mutants::{CANARIES, KillMatrix, MatrixOptions, kill_matrix};
use edgeproof_reports::matrix::{MutantStatus, Scope};

use crate::support::{block_on, test_bed};

#[test]
fn a_case_of_the_broken_row_kills_each_mutant_and_each_case_kills_one() {
    let bed = test_bed();
    let options = MatrixOptions { scope: Scope::Gate, jobs: 6, progress: |_, _| {} };
    let KillMatrix { matrix, .. } = block_on(kill_matrix(&bed, &options)).unwrap();
    println!("{} ({} case runs in {} ms)", matrix.line(), matrix.summary.plays, matrix.duration_ms);
    assert_eq!(matrix.problems, Vec::<String>::new());
    let with = |status: MutantStatus| -> Vec<&str> {
        let mutants = matrix.mutants.iter().filter(|mutant| mutant.status == status);
        mutants.map(|mutant| mutant.id.as_str()).collect()
    };
    // A run reports these as one finding and exits 3. The cases detect them as well.
    let findings = matrix.mutants.iter().filter(|mutant| mutant.finding).map(|mutant| mutant.id.as_str());
    assert_eq!(
        findings.collect::<Vec<_>>(),
        [
            "edge.refused/unknown",
            "verdict.404.pending/no-answer",
            "verdict.404.pending/other-row",
            "keys.200.published/no-answer",
            "edge/relays-nothing",
            "edge/refuses-all-requests",
            "service/refuses-all-requests"
        ]
    );
    assert_eq!(matrix.summary.must_killed, matrix.summary.must);
    assert_eq!(
        with(MutantStatus::Noticed),
        ["edge.400.read-failed/no-cors", "edge/strips-reason-suffix", "edge/passes-success-status"]
    );
    assert_eq!(
        with(MutantStatus::Equivalent),
        ["edge.refused.unknown/unknown", "edge.preflight/text-plain", "relay.401.unknown/unknown"]
    );
    let ids: Vec<&str> = matrix.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(CANARIES.iter().find(|id| !ids.contains(id)), None);
    let html = matrix.to_html();
    assert!(html.contains("relay.401.expired/wrong-type-status") && html.ends_with("</html>\n"));
}
