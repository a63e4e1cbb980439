//! Every stimulus of every row of 7.3, over real sockets.

use edgeproof_fixtures::credentials::{LicenseForm, Role};
use edgeproof_fixtures::spec::{Row, Spec, Stimulus, Table, Version};
use edgeproof_mock::{Match, RelayStimulus, ReplyShape, Script};
use rstest::rstest;

use super::support::{Bench, connect, converse};

/// Sends every stimulus. The committed snapshots of `edgeproof spec snapshot` show the answers.
#[rstest]
#[case::current(Version::Current)]
#[case::pre_seal(Version::PreSeal)]
#[tokio::test]
async fn every_stimulus_gets_the_answer_of_its_row(#[case] version: Version) {
    let bench = Bench::with(version, |_| {}).await;
    let spec = Spec::builtin(version);
    for row in spec.table(Table::Relay) {
        assert!(!row.stimuli.is_empty(), "{} has no stimulus", row.id);
        for stimulus in row.stimuli.iter().copied() {
            let sent = RelayStimulus::at(&bench.service, stimulus).unwrap();
            let _scripted = (stimulus == Stimulus::Scripted).then(|| {
                let shape = ReplyShape::from_profile(spec.profile());
                let script = Script::refuse(&shape, row.status().unwrap(), row.code().unwrap());
                bench.service.script(Match::Everything, script)
            });
            bench.service.set_outage(sent.outage);
            if let Some((license, client)) = sent.before {
                let answer = send(&bench, Some(license), Some(client), &sent.body).await;
                assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
            }
            provoke(&bench, row, stimulus, &sent).await;
        }
    }
}

async fn provoke(bench: &Bench, row: &Row, stimulus: Stimulus, sent: &RelayStimulus) {
    let mark = bench.service.mark();
    let answer = send(bench, sent.license, sent.client, &sent.body).await;
    assert!(answer.starts_with(&format!("HTTP/1.1 {} ", row.status().unwrap())), "{stimulus}: {answer}");
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!((body["error"].as_str(), body["reason"].as_str()), (row.code(), row.code()), "{stimulus}");
    let arrivals = bench.service.arrivals_since(mark);
    assert_eq!(arrivals.len(), 1);
    assert_eq!(arrivals[0].stimulus, Some(stimulus).filter(|stimulus| *stimulus != Stimulus::Scripted));
    assert_eq!(arrivals[0].answer.as_ref().unwrap().status(), row.status());
}

/// The answer to a request.
async fn send(bench: &Bench, license: Option<LicenseForm>, client: Option<Role>, body: &[u8]) -> String {
    let authorization = license.map_or(String::new(), |form| {
        format!("Authorization: Bearer {}\r\n", bench.credentials.license(form))
    });
    let request = format!(
        "POST /v1/relay HTTP/1.1\r\nHost: localhost\r\n{authorization}Content-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{}",
        body.len(),
        std::str::from_utf8(body).unwrap()
    );
    let mut stream = connect(bench.service.addr(), bench.tls(client, "http/1.1")).await.unwrap();
    let (answer, ended) = converse(&mut stream, request.as_bytes()).await;
    ended.unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn expired_certificate_is_refused_as_in_the_profile() {
    let bench = Bench::start().await;
    let spec = Spec::builtin(Version::Current);
    let row = spec.by_stimulus(Table::Relay, spec.profile().certificate_expired).unwrap();
    let sent = RelayStimulus::at(&bench.service, Stimulus::CertificateExpired).unwrap();
    provoke(&bench, row, Stimulus::CertificateExpired, &sent).await;
}

#[tokio::test]
async fn other_license_with_its_certificate_is_accepted() {
    let bench = Bench::start().await;
    let (license, client) = (LicenseForm::OtherLicense, Role::ClientForOtherLicense);
    let answer = send(&bench, Some(license), Some(client), &bench.sealed("r")).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with(r#"{"ok":true}"#), "{answer}");
}

#[tokio::test]
async fn valid_license_is_found_in_any_path_and_header() {
    let bench = Bench::start().await;
    let mut request = bench.request(bench.sealed("r"));
    let license = bench.credentials.license(LicenseForm::Valid);
    let expired = bench.credentials.license(LicenseForm::Expired);
    request.headers_mut().insert("authorization", format!("Bearer {expired}").parse().unwrap());
    *request.uri_mut() = format!("/some/where?license={license}").parse().unwrap();
    *request.method_mut() = http::Method::PUT;
    let answer = bench.send(request).await;
    assert_eq!((answer.status().as_u16(), answer.body().as_ref()), (200, &br#"{"ok":true}"#[..]));
}
