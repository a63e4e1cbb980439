//! Kill matrix: `edgeproof.matrix/1` and its page.

use edgeproof_reports::matrix::{
    Matrix, MatrixAccuracy, MatrixCase, MatrixMutant, MatrixSummary, MutantStatus, SCHEMA, Scope,
};
use edgeproof_reports::{CaseLevel, Destination};

#[test]
fn json_has_every_field_of_the_matrix() {
    insta::assert_snapshot!(matrix().to_json());
}

/// The page without its style.
#[test]
fn page_lists_mutants_and_cases() {
    let html = matrix().to_html();
    let (_, body) = html.split_once("<body>").unwrap();
    insta::assert_snapshot!(body);
}

#[test]
fn line_counts_mutants_and_cases() {
    insta::assert_snapshot!(matrix().line(), @"2 mutants × 2 cases: 1 killed by a case of their own row (1 of 2 that break a must), 0 noticed at open points, 1 survived, 1 equivalent; 1 reported as one finding; 1 cases kill, 1 cannot");
}

#[test]
fn written_matrix_loads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("matrix.json");
    Destination::new(&path).unwrap().write(&matrix().to_json()).unwrap();
    let read: Matrix = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(read, matrix());
    assert!(Destination::new(&folder.path().join("nowhere/matrix.json")).is_err());
}

pub(crate) fn matrix() -> Matrix {
    let line = |id: &str, status, cells: &str| MatrixMutant {
        id: id.into(),
        title: "sends <b>another status</b>\u{1b}[2J".into(),
        row: "relay.401.expired".into(),
        level: CaseLevel::Must,
        status,
        finding: false,
        killers: Vec::new(),
        cells: cells.into(),
    };
    let case = |id: &str, kills, exempt: Option<&str>| MatrixCase {
        id: id.into(),
        level: CaseLevel::Must,
        rows: vec!["relay.401.expired".into()],
        kills,
        exempt: exempt.map(str::to_owned),
    };
    let killed = line("relay.401.expired/other-status", MutantStatus::Killed, "X·");
    Matrix {
        schema: SCHEMA.into(),
        version: "0.0.0".into(),
        accuracy: vec![MatrixAccuracy { name: "first cause right".into(), hits: 4, of: 5 }],
        spec: "current".into(),
        digest: "0123456789abcdef".into(),
        scope: Scope::Full,
        duration_ms: 12,
        summary: MatrixSummary {
            mutants: 2,
            must: 2,
            killed: 1,
            must_killed: 1,
            found: 1,
            noticed: 0,
            survived: 1,
            equivalent: 1,
            cases: 2,
            killers: 1,
            exempt: 1,
            plays: 4,
        },
        problems: vec!["behaviour/<script>: no case of relay.401.expired detects it".into()],
        cases: vec![case("refusal.401.expired", 1, None), case("method.open", 0, Some("it observes"))],
        mutants: vec![
            MatrixMutant { finding: true, killers: vec!["refusal.401.expired".into()], ..killed },
            line("behaviour/<script>", MutantStatus::Survived, "· "),
            line("relay.401.expired/extra-member", MutantStatus::Equivalent, ""),
        ],
    }
}
