//! Every stimulus of every row of 7.3, over real sockets.

use std::time::SystemTime;

use edgeproof_fixtures::credentials::{LicenseForm, Role};
use edgeproof_fixtures::seal::{Collection, CollectionForm};
use edgeproof_fixtures::spec::{Row, Spec, Stimulus, Table, Version};
use edgeproof_mock::{Match, Outage, ReplyShape, Script};
use insta::{assert_snapshot, with_settings};

use super::support::{Bench, connect, converse};
use super::wire::shown;

/// A request that causes a stimulus.
struct Cause {
    license: Option<LicenseForm>,
    client: Option<Role>,
    body: Vec<u8>,
    /// Placeholder of the body in a snapshot.
    label: Option<&'static str>,
    outage: Option<Outage>,
    /// Credentials of an accepted request with the same body, sent before.
    before: Option<(LicenseForm, Role)>,
}

fn request_for(stimulus: Stimulus, bench: &Bench) -> Cause {
    let collection = Collection::generated("session 1", 7, SystemTime::now());
    let keys = bench.credentials.seal_keys();
    let good = || Cause {
        license: Some(LicenseForm::Valid),
        client: Some(Role::ClientForLicense),
        body: CollectionForm::Valid.body(&collection, keys),
        label: Some("valid"),
        outage: None,
        before: None,
    };
    if let Some(form) = LicenseForm::for_stimulus(stimulus) {
        return Cause { license: Some(form), ..good() };
    }
    if let Some(outage) = Outage::for_stimulus(stimulus) {
        return Cause { outage: Some(outage), ..good() };
    }
    if let Some(form) = CollectionForm::for_stimulus(stimulus) {
        return Cause { body: form.body(&collection, keys), label: Some(form.label()), ..good() };
    }
    let max_body = bench.service.spec().profile().max_body;
    match stimulus {
        Stimulus::LicenseMissing => Cause { license: None, ..good() },
        Stimulus::CertificateMissing => Cause { client: None, ..good() },
        Stimulus::CertificateForeign => Cause { client: Some(Role::ClientForeign), ..good() },
        Stimulus::CertificateOtherLicense => Cause { client: Some(Role::ClientForOtherLicense), ..good() },
        Stimulus::CertificateRevoked => Cause { client: Some(Role::ClientRevoked), ..good() },
        Stimulus::BodyTooLarge => {
            let body = format!("\"{}\"", "x".repeat(max_body - 1)).into_bytes();
            Cause { body, label: None, ..good() }
        }
        Stimulus::Replayed => Cause { before: Some((LicenseForm::Valid, Role::ClientForLicense)), ..good() },
        Stimulus::ReplayedElsewhere => {
            Cause { before: Some((LicenseForm::OtherLicense, Role::ClientForOtherLicense)), ..good() }
        }
        Stimulus::Scripted => good(),
        other => panic!("no request causes {other} at the service"),
    }
}

/// Sends every stimulus, so a row without a snapshot fails.
#[tokio::test]
async fn every_stimulus_gets_the_answer_of_its_row() {
    let bench = Bench::start().await;
    let spec = Spec::builtin(Version::Current);
    for row in spec.table(Table::Relay) {
        let mut wire = String::new();
        for stimulus in row.stimuli.iter().copied() {
            let sent = request_for(stimulus, &bench);
            let _scripted = (stimulus == Stimulus::Scripted).then(|| {
                let shape = ReplyShape::from_profile(spec.profile());
                let script = Script::refuse(&shape, row.status().unwrap(), row.code().unwrap());
                bench.service.script(Match::Everything, script)
            });
            bench.service.set_outage(sent.outage);
            if let Some((license, client)) = sent.before {
                let (_, answer) = send(&bench, Some(license), Some(client), &sent.body).await;
                assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
            }
            wire += &provoke(&bench, row, stimulus, &sent).await;
        }
        assert!(!wire.is_empty(), "{} has no stimulus", row.id);
        with_settings!({ snapshot_suffix => &row.id, omit_expression => true }, {
            assert_snapshot!("row", wire);
        });
    }
}

async fn provoke(bench: &Bench, row: &Row, stimulus: Stimulus, sent: &Cause) -> String {
    let mark = bench.service.mark();
    let (request, answer) = send(bench, sent.license, sent.client, &sent.body).await;
    assert!(answer.starts_with(&format!("HTTP/1.1 {} ", row.status().unwrap())), "{stimulus}: {answer}");
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!((body["error"].as_str(), body["reason"].as_str()), (row.code(), row.code()), "{stimulus}");
    let arrivals = bench.service.arrivals_since(mark);
    assert_eq!(arrivals.len(), 1);
    assert_eq!(arrivals[0].stimulus, Some(stimulus).filter(|stimulus| *stimulus != Stimulus::Scripted));
    assert_eq!(arrivals[0].answer.as_ref().unwrap().status(), row.status());

    let license = sent.license.map(|form| (bench.credentials.license(form), form.label()));
    let (token, label) = license.map_or(("(none)".to_owned(), ""), |(token, label)| (token, label));
    let body = String::from_utf8(sent.body.clone()).unwrap();
    let mut secrets = vec![(token, format!("[license {label}]"))];
    if let Some(form) = sent.label.filter(|_| body.len() > 2) {
        secrets.push((body, format!("[collection {form}]")));
    }
    let secrets: Vec<_> = secrets.iter().map(|(secret, label)| (secret.as_str(), label.as_str())).collect();
    let client = sent.client.map_or("none".to_owned(), |role| role.to_string());
    format!("# {stimulus}; client certificate: {client}\n") + &shown(&request, &answer, &secrets) + "\n"
}

/// The request and its answer.
async fn send(
    bench: &Bench,
    license: Option<LicenseForm>,
    client: Option<Role>,
    body: &[u8],
) -> (String, String) {
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
    (request, String::from_utf8(answer).unwrap())
}

#[tokio::test]
async fn expired_certificate_is_refused_as_in_the_profile() {
    let bench = Bench::start().await;
    let spec = Spec::builtin(Version::Current);
    let row = spec.by_stimulus(Table::Relay, spec.profile().certificate_expired).unwrap();
    let good = request_for(Stimulus::Scripted, &bench);
    let sent = Cause { client: Some(Role::ClientExpired), ..good };
    provoke(&bench, row, Stimulus::CertificateExpired, &sent).await;
}

#[tokio::test]
async fn other_license_with_its_certificate_is_accepted() {
    let bench = Bench::start().await;
    let (license, client) = (LicenseForm::OtherLicense, Role::ClientForOtherLicense);
    let (_, answer) = send(&bench, Some(license), Some(client), &bench.sealed("r")).await;
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
