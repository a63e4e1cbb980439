//! Saved sequences: whole files, stable names, strict reading.

use std::fs;
use std::path::Path;

use edgeproof::cases::explore::sequence::{EdgeModel, ServiceModel, generate, parse, render, save};
use edgeproof::cases::write_file;
use miette::Diagnostic as _;
use rstest::rstest;

use super::fake_target::edge_model;

#[test]
fn equal_file_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("new/folder");
    let model = edge_model();
    let sequence = generate(&model, 1, 1);
    let path = save(&folder, &model, &sequence, write_file).unwrap();
    let written = fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(save(&folder, &model, &sequence, write_file).unwrap(), path);
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written);
    assert_ne!(save(&folder, &model, &generate(&model, 1, 2), write_file).unwrap(), path);
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn damaged_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let model = edge_model();
    let sequence = generate(&model, 1, 1);
    let path = save(folder.path(), &model, &sequence, write_file).unwrap();
    fs::write(&path, "half").unwrap();
    save(folder.path(), &model, &sequence, write_file).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), render(&model, &sequence).1);
}

#[test]
fn unwritable_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let model = edge_model();
    save(&file, &model, &generate(&model, 1, 1), write_file).unwrap_err();
}

fn error_of(text: &str, read: impl Fn(&str) -> Option<(String, String)>) -> String {
    let (error, help) = read(text).unwrap_or_else(|| panic!("no error: {text}"));
    assert!(!help.is_empty(), "{error}");
    format!("{error}; {help}")
}

fn edge(model: &EdgeModel, text: &str) -> Option<(String, String)> {
    let error = parse(Path::new("s.toml"), text, model).err()?;
    Some((error.to_string(), error.help()?.to_string()))
}

fn service(text: &str) -> Option<(String, String)> {
    let error = parse(Path::new("s.toml"), text, &ServiceModel::all()).err()?;
    Some((error.to_string(), error.help()?.to_string()))
}

#[rstest]
#[case("", "s.toml line 1: missing field `target`")]
#[case("target = \"edge\"", "line 1: there is no step; add a table [[step]]")]
#[case("target = \"tower\"\n[[step]]\nevent = \"health\"", "line 1: there is no target \"tower\"")]
#[case("target = \"service\"\n[[step]]", "cannot replay s.toml on edge: it is a sequence for service; run")]
#[case(
    "target = \"edge\"\n[[step]]\nevent = \"helth\"",
    "line 3: there is no event \"helth\"; the events are"
)]
#[case(
    "target = \"edge\"\n[[step]]\nexchange = \"relay.401.revokd\"",
    "line 3: there is no row \"relay.401.revokd\""
)]
#[case(
    "target = \"edge\"\n\n[[step]]\nexchange = \"edge.200.accepted\"\nvalues = [\"framing=chunked-2\"]",
    "line 5: there is no value \"framing=chunked-2\""
)]
#[case(
    "target = \"edge\"\n[[step]]\nexchange = \"edge.200.accepted\"\nvalues = [\"status=404\"]",
    "line 4: "
)]
#[case(
    "target = \"edge\"\n[[step]]\nexchange = \"edge.200.accepted\"\nvalues = [\"size=1k\", \"size=1k\"]",
    "line 4: "
)]
#[case(
    "target = \"edge\"\n[[step]]\nevent = \"health\"\nvalues = []",
    "line 4: `values` belongs to an `exchange`"
)]
#[case("target = \"edge\"\n[[step]]\nevent = \"health\"\ncase = \"a\"", "line 2: a step has exactly one of")]
#[case("target = \"edge\"\n[[step]]\ncase = \"method.putt\"", "line 3: no case \"method.putt\"")]
#[case("target = \"edge\"\n[[step]]\nevent = \"health\"\nconnection = 4", "line 4: there is no connection 4")]
#[case(
    "target = \"edge\"\n[[step]]\nevent = \"health\"\nconnection = \"1\"",
    "line 4: `connection` has a value of"
)]
#[case(
    "target = \"edge\"\n[[step]]\nevent = \"health\"\npause-ms = 5000",
    "line 4: the pause 5000 is invalid"
)]
#[case(
    "target = \"edge\"\n[[step]]\nevent = \"not-http\"\nconnection = 1",
    "line 4: the client of this step leaves"
)]
#[case("target = \"edge\"\n[[step]]\nevent = 7", "line 3: `event` is not a string; write one string")]
#[case(
    "target = \"edge\"\n[[step]]\nevnt = \"health\"",
    "line 3: a step for edge has no key `evnt`; the keys are"
)]
#[case("target = \"edge\"\n[[step]]\nevent = \"health\"\n[[steps]]", "line 4: unknown field `steps`")]
#[case("target = \"edge\"\n[[step]\nevent = \"health\"", "line 2: ")]
#[case(
    "target = \"edge\"\n[[step]]\nevent = \"service-reset\"\ntogether = true\n[[step]]\nevent = \"health\"",
    "line 4: the service breaks its connection in this step or in the next one, so they cannot start together"
)]
fn invalid_edge_sequence_names_line_and_advice(#[case] text: &str, #[case] expected: &str) {
    let model = edge_model();
    let error = error_of(text, |text| edge(&model, text));
    assert!(error.contains(expected), "{error}");
}

#[rstest]
#[case(
    "target = \"service\"\n[[step]]\nsession = \"unknwon\"",
    "line 3: there is no session \"unknwon\"; write one of"
)]
#[case("target = \"service\"\n[[step]]\ntoken = \"valid\"", "line 2: a step has a `session` or an `event`")]
#[case(
    "target = \"service\"\n[[step]]\nsession = \"known\"\nheader = \"Cookie: a\"",
    "line 4: there is no header \"Cookie: a\""
)]
#[case(
    "target = \"service\"\n[[step]]\nevent = \"key-set\"\nsession = \"known\"",
    "an event has no `session`"
)]
#[case(
    "target = \"edge\"\n[[step]]\nevent = \"health\"",
    "cannot replay s.toml on service: it is a sequence for edge"
)]
fn invalid_service_sequence_names_line_and_advice(#[case] text: &str, #[case] expected: &str) {
    let error = error_of(text, service);
    assert!(error.contains(expected), "{error}");
}
