//! Every stimulus of every row of 7.4, and the key set, over real sockets.

use edgeproof_fixtures::credentials::ReadTokenForm;
use edgeproof_fixtures::spec::{Row, Spec, Stimulus, Table, Version};
use edgeproof_mock::prepare_verdict;

use super::support::{Bench, converse};

const PATH: &str = "/v1/verdict/caf%C3%A9%201%2F2";
const REFERENCE: &str = "café 1/2";

/// Sends every stimulus. The committed snapshots of `edgeproof spec snapshot` show the answers.
#[tokio::test]
async fn every_stimulus_gets_the_answer_of_its_row() {
    let bench = Bench::start().await;
    let spec = Spec::builtin(Version::Current);
    for row in spec.table(Table::Verdict) {
        assert!(!row.stimuli.is_empty(), "{} has no stimulus", row.id);
        for &stimulus in &row.stimuli {
            let form = prepare_verdict(&bench.service, stimulus, REFERENCE).unwrap();
            let answer = ask(&bench, form, PATH).await;
            check(&bench, row, stimulus, &answer);
            assert!(!answer.contains(&bench.credentials.read_token(ReadTokenForm::Valid)));
        }
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

/// The answer to a request.
async fn ask(bench: &Bench, form: ReadTokenForm, path: &str) -> String {
    let authorization = bench.credentials.authorization(form);
    let authorization = authorization.map_or(String::new(), |value| format!("Authorization: {value}\r\n"));
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}Connection: close\r\n\r\n");
    let (answer, ended) = converse(&mut bench.connect("http/1.1").await, request.as_bytes()).await;
    ended.unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn key_set_row_with_a_stimulus_is_answered() {
    let bench = Bench::start().await;
    let spec = Spec::builtin(Version::Current);
    for row in spec.table(Table::Keys) {
        for &stimulus in &row.stimuli {
            assert_eq!(stimulus, Stimulus::KeySetFetched, "no request causes it");
            let path = "/.well-known/browser-verdict-jwks.json";
            let answer = ask(&bench, ReadTokenForm::Missing, path).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {} ", row.status().unwrap())), "{answer}");
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
