//! The contract `edgeproof.report/1`.

use std::path::Path;

use edgeproof_reports::{Event, Format, Reader, Report, Titles, render};
use rstest::rstest;
use serde_json::Value;

use crate::sample_run::{events, report};

#[test]
fn json_has_every_field_of_the_run() {
    insta::assert_snapshot!(render(Format::Json, &report(), &Titles::new()));
}

#[test]
fn report_has_the_fields_of_the_contract() {
    let report = serde_json::to_value(report()).unwrap();
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(
        names(&report),
        "schema tool spec target started duration_ms seed exit_code summary exchange_count cases causes observations unchecked_pins missing_inputs latency findings"
    );
    assert_eq!(names(&report["target"]), "kind command");
    assert_eq!(names(&report["summary"]), "planned pass fail warn known observed not_applicable not_run");
    assert_eq!(
        names(&report["cases"][0]),
        "id title section level basis rows since outcome because expected actual mismatches observations duration_us \
         reproduce exchanges"
    );
    assert_eq!(
        names(&report["causes"][0]),
        "id title row level confidence cases passed mismatch explanation fix frameworks rerun"
    );
    assert_eq!(names(&report["causes"][0]["frameworks"][0]), "name fix");
    assert_eq!(report["summary"]["planned"], report["cases"].as_array().unwrap().len());
}

#[test]
fn written_report_loads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    std::fs::write(&path, report().to_json()).unwrap();
    assert_eq!(Report::load(&path).unwrap(), report());
}

#[rstest]
#[case("not json at all", "cannot read the report r.json: it is not JSON")]
#[case(
    "[1]",
    "cannot read the report r.json: it has no `schema`; give a file that `--report json=PATH` wrote"
)]
#[case(
    r#"{"schema":"edgeproof.report/2"}"#,
    "cannot read the report r.json: its schema is `edgeproof.report/2`; give a file with the schema `edgeproof.report/1`"
)]
#[case(
    r#"{"schema":"edgeproof.report/1"}"#,
    "cannot read the report r.json: it does not match `edgeproof.report/1`: missing field `tool` at line 1 column 31"
)]
fn invalid_file_is_explained(#[case] text: &str, #[case] expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    std::fs::write(&path, text).unwrap();
    assert!(message(&Report::load(&path).unwrap_err(), folder.path()).starts_with(expected));
}

#[test]
fn missing_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = Report::load(&folder.path().join("r.json")).unwrap_err();
    assert_eq!(
        message(&error, folder.path()),
        "cannot read the report r.json: No such file or directory (os error 2)"
    );
}

#[test]
fn summary_that_does_not_match_the_cases_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.json");
    let mut report = report();
    report.cases.pop();
    std::fs::write(&path, report.to_json()).unwrap();
    let error = Report::load(&path).unwrap_err();
    assert!(message(&error, folder.path()).ends_with("`summary` does not match `cases`"));
}

#[test]
fn stored_run_replays() {
    struct Recorder(Vec<Event>);
    impl Reader for Recorder {
        fn read(&mut self, event: &Event) {
            self.0.push(event.clone());
        }
    }
    let mut recorder = Recorder(Vec::new());
    report().replay(&mut recorder).unwrap();
    let events = events().into_iter().filter(|event| !matches!(event, Event::Began { .. }));
    assert_eq!(recorder.0, events.collect::<Vec<_>>());
}

/// The message with its causes, without the folder.
fn message(error: &dyn std::error::Error, folder: &Path) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let text = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
    text.replace(&format!("{}/", folder.display()), "")
}
