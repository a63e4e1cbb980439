//! The contract: `edgeproof.report/1`.

use std::path::Path;

use edgeproof_reports::{Event, Format, Recorder, Report, Titles, render, report_schema};
use rstest::rstest;
use serde_json::{Value, json};

use crate::sample::{events, report, tell};

const PUBLISHED: &str = include_str!("../../schema/report-1.json");

#[test]
fn report_document() {
    insta::assert_snapshot!(render(Format::Json, &report(), &Titles::new()).unwrap());
}

#[test]
fn the_published_schema_is_the_one_of_the_types() {
    let mut generated = serde_json::to_string_pretty(&report_schema()).unwrap();
    generated.push('\n');
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/report-1.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(path, &generated).unwrap();
        return;
    }
    assert!(PUBLISHED == generated, "run the tests with UPDATE_SCHEMA=1 to write schema/report-1.json anew");
}

#[test]
fn a_report_keeps_to_the_published_schema() {
    let schema = jsonschema::validator_for(&serde_json::from_str(PUBLISHED).unwrap()).unwrap();
    let report = serde_json::to_value(report()).unwrap();
    let errors: Vec<String> = schema.iter_errors(&report).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}

#[rstest]
#[case("/schema", json!("edgeproof.report/2"))]
#[case("/summary/planned", json!("ten"))]
#[case("/cases/0/outcome", json!("green"))]
#[case("/cases/2/exchanges/0/hop", json!("edge"))]
#[case("/target/kind", Value::Null)]
fn the_schema_refuses_what_is_no_report(#[case] pointer: &str, #[case] value: Value) {
    let schema = jsonschema::validator_for(&report_schema()).unwrap();
    let mut report = serde_json::to_value(report()).unwrap();
    *report.pointer_mut(pointer).unwrap() = value;
    assert!(!schema.is_valid(&report));
}

#[test]
fn has_the_fields_that_others_script_against() {
    let report = serde_json::to_value(report()).unwrap();
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(
        names(&report),
        "schema tool spec target started duration_ms seed exit_code summary cases observations latency findings"
    );
    assert_eq!(names(&report["target"]), "kind command");
    assert_eq!(names(&report["summary"]), "planned pass fail warn known observed not_applicable not_run");
    assert_eq!(
        names(&report["cases"][0]),
        "id title section level basis rows outcome because expected actual mismatches observations duration_us \
         reproduce exchanges"
    );
    assert_eq!(report["summary"]["planned"], report["cases"].as_array().unwrap().len());
}

#[test]
fn loads_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    std::fs::write(&path, report().to_json().unwrap()).unwrap();
    assert_eq!(Report::load(&path).unwrap(), report());
}

#[rstest]
#[case("not json at all", "read r.json as a report: it is not JSON")]
#[case(
    "[1]",
    "read r.json as a report: it has no `schema` that names `edgeproof.report/1`; give a file that `--report json=PATH` wrote"
)]
#[case(
    r#"{"schema":"other/1"}"#,
    "read r.json as a report: it has no `schema` that names `edgeproof.report/1`; give a file that `--report json=PATH` wrote"
)]
#[case(
    r#"{"schema":"edgeproof.report/2"}"#,
    "read r.json as a report: its schema is `edgeproof.report/2`, this version of edgeproof reads `edgeproof.report/1`"
)]
#[case(
    r#"{"schema":"edgeproof.report/1"}"#,
    "read r.json as a report: it does not keep to `edgeproof.report/1`: missing field `tool` at line 1 column 31"
)]
fn says_what_is_wrong_with_a_file(#[case] text: &str, #[case] message: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    std::fs::write(&path, text).unwrap();
    assert!(told(&Report::load(&path).unwrap_err(), folder.path()).starts_with(message));
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = Report::load(&folder.path().join("r.json")).unwrap_err();
    assert_eq!(told(&error, folder.path()), "read the report r.json: No such file or directory (os error 2)");
}

#[test]
fn counts_that_are_not_those_of_the_cases_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    let mut report = report();
    report.cases.pop();
    std::fs::write(&path, report.to_json().unwrap()).unwrap();
    let error = Report::load(&path).unwrap_err();
    assert!(told(&error, folder.path()).ends_with("`summary` does not count `cases`"));
}

#[rstest]
#[case(1, "make a report: 10 cases were planned, and 9 ended")]
#[case(2, "make a report: the run did not finish")]
#[case(3, "make a report: the run was never planned")]
fn a_run_that_is_not_whole_has_no_report(#[case] broken: u8, #[case] message: &str) {
    let mut events = events();
    match broken {
        1 => drop(events.remove(events.iter().position(|event| matches!(event, Event::Ended(_))).unwrap())),
        2 => drop(events.pop()),
        _ => drop(events.remove(0)),
    }
    let mut recorder = Recorder::default();
    tell(&events, &mut recorder);
    assert_eq!(recorder.report().unwrap_err().to_string(), message);
}

#[test]
fn a_stored_run_can_be_told_again() {
    let mut recorder = Recorder::default();
    report().replay(&mut recorder).unwrap();
    assert_eq!(recorder.report().unwrap(), report());
}

/// The message with its causes, the folder left out.
fn told(error: &dyn std::error::Error, folder: &Path) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let text = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
    text.replace(&format!("{}/", folder.display()), "")
}
