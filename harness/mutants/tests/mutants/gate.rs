use edgeproof_mutants::{CANARIES, MatrixOptions, matrix};
use edgeproof_reports::matrix::{MutantStatus, Scope};

use crate::support::{wait_for, world};

/// The gate: every deviation is noticed by a case of the row that it breaks, and every case notices one.
#[test]
fn every_deviation_is_killed_by_its_own_row_and_every_case_kills() {
    let world = world();
    let options = MatrixOptions { scope: Scope::Gate, jobs: 6, progress: |_, _| {} };
    let matrix = wait_for(matrix(&world, &options)).unwrap();
    println!("{} ({} plays in {} ms)", matrix.line(), matrix.summary.plays, matrix.duration_ms);
    assert_eq!(matrix.problems, Vec::<String>::new());
    let with = |status: MutantStatus| -> Vec<&str> {
        matrix.mutants.iter().filter(|line| line.status == status).map(|line| line.id.as_str()).collect()
    };
    // What keeps a run from proving anything is one finding there, and exit 3. The cases notice it by themselves as well.
    let findings = matrix.mutants.iter().filter(|line| line.finding).map(|line| line.id.as_str());
    assert_eq!(
        findings.collect::<Vec<_>>(),
        [
            "edge.refused/unknown",
            "verdict.404.pending/withheld",
            "verdict.404.pending/neighbours-answer",
            "keys.200.published/withheld",
            "service/refuses-everything"
        ]
    );
    assert_eq!(matrix.summary.must_killed, matrix.summary.must);
    assert_eq!(with(MutantStatus::Noticed), ["behaviour/strips-suffix", "behaviour/passes-success"]);
    assert_eq!(
        with(MutantStatus::Equivalent),
        ["edge.refused.unknown/unknown", "edge.preflight/text-type", "relay.401.unknown/unknown"]
    );
    let ids: Vec<&str> = matrix.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(CANARIES.iter().find(|id| !ids.contains(id)), None);
    let html = matrix.to_html();
    assert!(html.contains("relay.401.expired/wrong-type-status") && html.ends_with("</html>\n"));
}
