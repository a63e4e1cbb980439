//! Deviations × cases: `edgeproof.matrix/1` and its page.

use std::path::Path;

use edgeproof_reports::Level;
use edgeproof_reports::matrix::{
    Destination, Fate, Matrix, MatrixCase, MatrixLine, MatrixSummary, SCHEMA, Scope, matrix_schema,
};
use serde_json::Value;

const PUBLISHED: &str = include_str!("../../schema/matrix-1.json");

#[test]
fn matrix_document() {
    insta::assert_snapshot!(matrix().to_json().unwrap());
}

/// Without the style, which is not what is looked at here.
#[test]
fn matrix_page() {
    let html = matrix().to_html();
    let (_, body) = html.split_once("<body>").unwrap();
    insta::assert_snapshot!(body);
}

#[test]
fn the_line_to_quote() {
    insta::assert_snapshot!(matrix().line(), @"2 deviations × 2 cases: 1 killed by a case of their own row (1 of 2 that break a must), 0 noticed at open points, 1 survived, 1 equivalent; 1 of them a run tells of as one finding; 1 cases kill, 1 cannot");
}

#[test]
fn the_published_schema_is_the_one_of_the_types() {
    let generated = serde_json::to_string_pretty(&matrix_schema()).unwrap() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/matrix-1.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(path, &generated).unwrap();
        return;
    }
    assert!(PUBLISHED == generated, "run the tests with UPDATE_SCHEMA=1 to write schema/matrix-1.json anew");
}

#[test]
fn a_matrix_keeps_to_the_published_schema() {
    let schema = jsonschema::validator_for(&serde_json::from_str(PUBLISHED).unwrap()).unwrap();
    let mut matrix = serde_json::to_value(matrix()).unwrap();
    assert_eq!(schema.iter_errors(&matrix).map(|error| error.to_string()).next(), None);
    matrix["deviations"][0]["fate"] = Value::from("forgiven");
    assert!(!schema.is_valid(&matrix));
}

#[test]
fn it_is_written_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("matrix.json");
    Destination::new(&path).unwrap().write(&matrix().to_json().unwrap()).unwrap();
    let read: Matrix = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(read, matrix());
    assert!(Destination::new(&folder.path().join("nowhere/matrix.json")).is_err());
}

fn matrix() -> Matrix {
    let line = |id: &str, fate, cells: &str| MatrixLine {
        id: id.into(),
        title: "says <b>otherwise</b>\u{1b}[2J".into(),
        row: "relay.401.expired".into(),
        level: Level::Must,
        fate,
        finding: false,
        killers: Vec::new(),
        cells: cells.into(),
    };
    let case = |id: &str, kills, exempt: Option<&str>| MatrixCase {
        id: id.into(),
        level: Level::Must,
        rows: vec!["relay.401.expired".into()],
        kills,
        exempt: exempt.map(str::to_owned),
    };
    let killed = line("relay.401.expired/other-status", Fate::Killed, "X·");
    Matrix {
        schema: SCHEMA.into(),
        version: "0.0.0".into(),
        spec: "current".into(),
        digest: "0123456789abcdef".into(),
        scope: Scope::Full,
        duration_ms: 12,
        summary: MatrixSummary {
            deviations: 2,
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
        problems: vec!["behaviour/<script>: no case of relay.401.expired notices".into()],
        cases: vec![case("refusal.401.expired", 1, None), case("method.open", 0, Some("it observes"))],
        deviations: vec![
            MatrixLine { finding: true, killers: vec!["refusal.401.expired".into()], ..killed },
            line("behaviour/<script>", Fate::Survived, "· "),
            line("relay.401.expired/extra-member", Fate::Equivalent, ""),
        ],
    }
}
