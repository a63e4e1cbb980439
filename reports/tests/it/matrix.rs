//! Kill matrix: `edgeproof.matrix/1` and its page.

use std::path::Path;

use edgeproof_reports::matrix::{
    Matrix, MatrixCase, MatrixMutant, MatrixSummary, MutantStatus, SCHEMA, Scope, matrix_schema,
};
use edgeproof_reports::{CaseLevel, Destination};
use serde_json::Value;

const PUBLISHED: &str = include_str!("../../schema/matrix-1.json");

#[test]
fn matrix_document() {
    insta::assert_snapshot!(matrix().to_json());
}

/// The page without its style.
#[test]
fn matrix_page() {
    let html = matrix().to_html();
    let (_, body) = html.split_once("<body>").unwrap();
    insta::assert_snapshot!(body);
}

#[test]
fn matrix_line() {
    insta::assert_snapshot!(matrix().line(), @"2 mutants × 2 cases: 1 killed by a case of their own row (1 of 2 that break a must), 0 noticed at open points, 1 survived, 1 equivalent; 1 reported as one finding; 1 cases kill, 1 cannot");
}

#[test]
fn published_schema_is_up_to_date() {
    let generated = serde_json::to_string_pretty(&matrix_schema()).unwrap() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/matrix-1.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(path, &generated).unwrap();
        return;
    }
    assert!(
        PUBLISHED == generated,
        "schema/matrix-1.json is out of date: run the tests with UPDATE_SCHEMA=1"
    );
}

#[test]
fn matrix_matches_the_published_schema() {
    let schema = jsonschema::validator_for(&serde_json::from_str(PUBLISHED).unwrap()).unwrap();
    let mut matrix = serde_json::to_value(matrix()).unwrap();
    assert_eq!(schema.iter_errors(&matrix).map(|error| error.to_string()).next(), None);
    matrix["mutants"][0]["status"] = Value::from("forgiven");
    assert!(!schema.is_valid(&matrix));
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

fn matrix() -> Matrix {
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
