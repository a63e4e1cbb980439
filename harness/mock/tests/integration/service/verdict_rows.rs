//! Every stimulus of every row of 7.4, and the key set, over real sockets.

use std::fmt::Write as _;
use std::time::Duration;

use edgeproof_fixtures::credentials::ReadTokenForm;
use edgeproof_fixtures::spec::{Row, Spec, Stimulus, Table, Version};
use edgeproof_mock::{NewSession, ReadOutage, Ready};
use insta::{assert_snapshot, with_settings};

use super::support::{Bench, converse};
use super::wire::shown;

const PATH: &str = "/v1/verdict/caf%C3%A9%201%2F2";
const REFERENCE: &str = "café 1/2";

/// Prepares a stimulus, and returns the read token that meets it.
fn prepare(bench: &Bench, stimulus: Stimulus) -> ReadTokenForm {
    let ready = NewSession::new(REFERENCE);
    bench.service.reset();
    if let Some(form) = ReadTokenForm::for_stimulus(stimulus) {
        // A refused token never sees the session.
        bench.service.add_session(ready);
        return form;
    }
    if let Some(outage) = ReadOutage::for_stimulus(stimulus) {
        bench.service.add_session(ready);
        bench.service.set_read_outage(Some(outage));
        return ReadTokenForm::Valid;
    }
    match stimulus {
        Stimulus::VerdictReady => bench.service.add_session(ready),
        Stimulus::VerdictPending => bench.service.add_session(ready.ready(Ready::Never)),
        Stimulus::VerdictTooOld => {
            bench.service.add_session(ready);
            bench.service.clock().advance(Duration::from_secs(121));
        }
        Stimulus::ReferenceUnknown => bench.service.add_session(NewSession::new("another")),
        Stimulus::ReferenceOtherLicense => {
            bench.service.add_session(ready.license_id(bench.credentials.other_license_id()));
        }
        other => panic!("no request causes {other} at the verdict endpoint"),
    }
    ReadTokenForm::Valid
}

/// Sends every stimulus, so a row without a snapshot fails.
#[tokio::test]
async fn every_stimulus_gets_the_answer_of_its_row() {
    let bench = Bench::start().await;
    let spec = Spec::builtin(Version::Current);
    for row in spec.table(Table::Verdict) {
        let mut wire = String::new();
        for &stimulus in &row.stimuli {
            let form = prepare(&bench, stimulus);
            let (request, answer) = ask(&bench, form, PATH).await;
            check(&bench, row, stimulus, &answer);
            let token = bench.credentials.authorization(form).unwrap_or("(none)".to_owned());
            let label = format!("[read token {}]", form.label());
            let text = shown(&request, &answer, &[(&token, &label)]);
            assert!(!text.contains(&bench.credentials.read_token(ReadTokenForm::Valid)));
            _ = writeln!(wire, "# {stimulus}\n{text}");
        }
        assert!(!wire.is_empty(), "{} has no stimulus", row.id);
        with_settings!({ snapshot_suffix => &row.id, omit_expression => true }, {
            assert_snapshot!("verdict", wire);
        });
    }
}

fn check(bench: &Bench, row: &Row, stimulus: Stimulus, answer: &str) {
    assert!(answer.starts_with(&format!("HTTP/1.1 {} ", row.status().unwrap())), "{stimulus}: {answer}");
    let text = answer.split_once("\r\n\r\n").unwrap().1;
    let body: serde_json::Value = serde_json::from_str(text).unwrap();
    if let Some(expected) = row.body_with(&[("<session_ref>", REFERENCE.into())]) {
        assert_eq!(text, expected.to_string(), "{stimulus}");
    } else if let Some(code) = row.code() {
        let error = body["error"].as_str().unwrap();
        assert_eq!(error.split_once(':').map_or(error, |(code, _)| code), code, "{stimulus}");
    } else {
        assert_eq!(body["ref"], REFERENCE);
    }
    let arrival = bench.service.journal().pop().unwrap();
    assert_eq!(arrival.stimulus, Some(stimulus));
}

/// The request and its answer.
async fn ask(bench: &Bench, form: ReadTokenForm, path: &str) -> (String, String) {
    let authorization = bench.credentials.authorization(form);
    let authorization = authorization.map_or(String::new(), |value| format!("Authorization: {value}\r\n"));
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}Connection: close\r\n\r\n");
    let (answer, ended) = converse(&mut bench.connect("http/1.1").await, request.as_bytes()).await;
    ended.unwrap();
    (request, String::from_utf8(answer).unwrap())
}

#[tokio::test]
async fn key_set_row_with_a_stimulus_is_answered() {
    let bench = Bench::start().await;
    let spec = Spec::builtin(Version::Current);
    for row in spec.table(Table::Keys) {
        for &stimulus in &row.stimuli {
            assert_eq!(stimulus, Stimulus::KeySetFetched, "no request causes it");
            let path = "/.well-known/browser-verdict-jwks.json";
            let (request, answer) = ask(&bench, ReadTokenForm::Missing, path).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {} ", row.status().unwrap())), "{answer}");
            with_settings!({ snapshot_suffix => &row.id, omit_expression => true }, {
                assert_snapshot!("keys", shown(&request, &answer, &[]));
            });
        }
    }
}

#[tokio::test]
async fn two_authorization_headers_count_as_none() {
    let bench = Bench::start().await;
    let mut request = bench.poll("r");
    let again = request.headers()["authorization"].clone();
    request.headers_mut().append("authorization", again);
    let answer = bench.send(request).await;
    assert_eq!((answer.status().as_u16(), &answer.body()[..]), (401, &br#"{"error":"unauthorized"}"#[..]));
}
