//! The published JSON schemas.

use std::path::Path;

use edgeproof_reports::load::load_schema;
use edgeproof_reports::matrix::matrix_schema;
use edgeproof_reports::report_schema;
use rstest::rstest;
use serde_json::{Value, json};

use crate::{load, matrix, sample_run};

#[rstest]
#[case::report("report-1.json", report_schema(), json!(sample_run::report()))]
#[case::load("load-1.json", load_schema(), json!(load::report()))]
#[case::matrix("matrix-1.json", matrix_schema(), json!(matrix::matrix()))]
fn published_schema_is_up_to_date_and_accepts_the_sample(
    #[case] file: &str,
    #[case] generated: Value,
    #[case] sample: Value,
) {
    let generated_text = serde_json::to_string_pretty(&generated).unwrap() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema").join(file);
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &generated_text).unwrap();
    }
    let published = std::fs::read_to_string(path).unwrap();
    assert!(published == generated_text, "schema/{file} is out of date: run the tests with UPDATE_SCHEMA=1");
    let schema = jsonschema::validator_for(&generated).unwrap();
    assert_eq!(schema.iter_errors(&sample).map(|error| error.to_string()).next(), None);
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
    check_rejected(&report_schema(), json!(sample_run::report()), pointer, value);
}

#[rstest]
#[case("/schema", json!("edgeproof.load/2"))]
#[case("/state", json!("green"))]
#[case("/ledger/open", Value::Null)]
#[case("/routes/0/outcomes/0/count", json!("many"))]
fn load_schema_rejects_wrong_values(#[case] pointer: &str, #[case] value: Value) {
    check_rejected(&load_schema(), json!(load::report()), pointer, value);
}

#[test]
fn matrix_schema_rejects_an_unknown_status() {
    check_rejected(&matrix_schema(), json!(matrix::matrix()), "/mutants/0/status", json!("forgiven"));
}

fn check_rejected(schema: &Value, mut sample: Value, pointer: &str, value: Value) {
    *sample.pointer_mut(pointer).unwrap() = value;
    assert!(!jsonschema::validator_for(schema).unwrap().is_valid(&sample));
}
