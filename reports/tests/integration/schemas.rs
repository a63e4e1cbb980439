//! The published JSON schemas accept a sample, and no wrong value.

use boon::{Compiler, Schemas};
use edgeproof_reports::schemas::{LOAD, MATRIX, REPORT, REPORT_DIFF, REPORT_MATRIX};
use rstest::rstest;
use serde_json::{Value, json};

use crate::{comparison, load, matrix, run_matrix, sample_run};

#[rstest]
#[case::report(REPORT, &json!(sample_run::report()))]
#[case::report_diff(REPORT_DIFF, &json!(comparison::compared()))]
#[case::report_matrix(REPORT_MATRIX, &json!(run_matrix::side_by_side("a text")))]
#[case::load(LOAD, &json!(load::report()))]
#[case::matrix(MATRIX, &json!(matrix::matrix()))]
fn published_schema_accepts_the_sample(#[case] schema: &str, #[case] sample: &Value) {
    assert_eq!(violation(schema, sample), None);
}

#[rstest]
#[case("/schema", json!("edgeproof.report/2"))]
#[case("/summary/planned", json!("ten"))]
#[case("/cases/0/outcome", json!("green"))]
#[case("/cases/2/exchanges/0/hop", json!("edge"))]
#[case("/target/kind", Value::Null)]
#[case("/causes/0/confidence", json!("high"))]
#[case("/causes/0/rerun", Value::Null)]
fn report_schema_rejects_wrong_values(#[case] pointer: &str, #[case] value: Value) {
    check_rejected(REPORT, json!(sample_run::report()), pointer, value);
}

#[rstest]
#[case("/schema", json!("edgeproof.report-diff/2"))]
#[case("/cases/0/change", json!("worse"))]
#[case("/summary/newly_broken", Value::Null)]
fn comparison_schema_rejects_wrong_values(#[case] pointer: &str, #[case] value: Value) {
    check_rejected(REPORT_DIFF, json!(comparison::compared()), pointer, value);
}

#[rstest]
#[case("/schema", json!("edgeproof.report-matrix/2"))]
#[case("/sections/0/rows/0/runs/0/outcome", json!("green"))]
#[case("/runs/0/exit_code", Value::Null)]
fn run_matrix_schema_rejects_wrong_values(#[case] pointer: &str, #[case] value: Value) {
    check_rejected(REPORT_MATRIX, json!(run_matrix::side_by_side("a text")), pointer, value);
}

#[rstest]
#[case("/schema", json!("edgeproof.load/2"))]
#[case("/state", json!("green"))]
#[case("/ledger/open", Value::Null)]
#[case("/routes/0/outcomes/0/count", json!("many"))]
fn load_schema_rejects_wrong_values(#[case] pointer: &str, #[case] value: Value) {
    check_rejected(LOAD, json!(load::report()), pointer, value);
}

#[test]
fn matrix_schema_rejects_an_unknown_status() {
    check_rejected(MATRIX, json!(matrix::matrix()), "/mutants/0/status", json!("forgiven"));
}

fn check_rejected(schema: &str, mut sample: Value, pointer: &str, value: Value) {
    *sample.pointer_mut(pointer).unwrap() = value;
    assert!(violation(schema, &sample).is_some());
}

/// What a document violates in a schema.
fn violation(schema: &str, document: &Value) -> Option<String> {
    let mut compiler = Compiler::new();
    compiler.add_resource("schema.json", serde_json::from_str(schema).unwrap()).unwrap();
    let mut schemas = Schemas::new();
    let schema = compiler.compile("schema.json", &mut schemas).unwrap();
    schemas.validate(document, schema).err().map(|error| error.to_string())
}
