//! Every stimulus of every license and certificate row of 7.3, sent for real.

use std::fmt::Write;

use fixtures::credentials::{LicenseForm, Role};
use fixtures::spec::{Row, Spec, Stimulus, Table, Version};
use harness::mock::Outage;
use insta::{assert_snapshot, with_settings};

use super::support::{Bench, connect, converse};

/// How a cause is brought about.
enum Cause {
    /// By this request.
    Sent { license: Option<LicenseForm>, client: Option<Role>, body: String, outage: Option<Outage> },
    /// By sealed collections, which the mock service cannot open yet.
    AwaitsSeals,
}

fn cause(stimulus: Stimulus, spec: &Spec) -> Cause {
    let (license, client) = (Some(LicenseForm::Valid), Some(Role::ClientForLicense));
    let body = "{\"sealed\":\"…\"}".to_owned();
    let sent = |license, client| Cause::Sent { license, client, body: body.clone(), outage: None };
    if let Some(form) = LicenseForm::for_stimulus(stimulus) {
        return sent(Some(form), client);
    }
    if let Some(outage) = Outage::for_stimulus(stimulus) {
        return Cause::Sent { license, client, body, outage: Some(outage) };
    }
    match stimulus {
        Stimulus::LicenseMissing => sent(None, client),
        Stimulus::CertificateMissing => sent(license, None),
        Stimulus::CertificateForeign => sent(license, Some(Role::ClientForeign)),
        Stimulus::CertificateOtherLicense => sent(license, Some(Role::ClientForOtherLicense)),
        Stimulus::CertificateRevoked => sent(license, Some(Role::ClientRevoked)),
        Stimulus::BodyNotJson => Cause::Sent { license, client, body: "not JSON".to_owned(), outage: None },
        Stimulus::BodyTooLarge => {
            let body = format!("\"{}\"", "x".repeat(spec.profile().max_body - 1));
            Cause::Sent { license, client, body, outage: None }
        }
        Stimulus::BodyUnsealed
        | Stimulus::BodyEmptyObject
        | Stimulus::SealKeyUnknown
        | Stimulus::SealBroken
        | Stimulus::ContentsSignatureAltered
        | Stimulus::ContentsDamaged
        | Stimulus::ContentsIncomplete
        | Stimulus::Replayed
        | Stimulus::ReplayedElsewhere => Cause::AwaitsSeals,
        other => panic!("no way is known to bring {other} about at the service"),
    }
}

#[tokio::test]
async fn every_row_is_answered_when_its_cause_happens() {
    let bench = Bench::start().await;
    let spec = Spec::builtin(Version::Current);
    let mut awaiting = Vec::new();
    for row in spec.table(Table::Relay) {
        let mut wire = String::new();
        for stimulus in row.stimuli.iter().copied().filter(|stimulus| *stimulus != Stimulus::Scripted) {
            match cause(stimulus, &spec) {
                Cause::AwaitsSeals => awaiting.push(stimulus.name()),
                Cause::Sent { license, client, body, outage } => {
                    bench.service.set_outage(outage);
                    provoke(&bench, row, stimulus, license, client, &body, &mut wire).await;
                }
            }
        }
        if !wire.is_empty() {
            with_settings!({ snapshot_suffix => &row.id, omit_expression => true }, {
                assert_snapshot!("row", wire);
            });
        }
    }
    assert_eq!(
        awaiting.join(" "),
        "body-unsealed body-empty-object seal-key-unknown seal-broken contents-signature-altered contents-damaged contents-incomplete replayed replayed-elsewhere"
    );
}

async fn provoke(
    bench: &Bench,
    row: &Row,
    stimulus: Stimulus,
    license: Option<LicenseForm>,
    client: Option<Role>,
    body: &str,
    wire: &mut String,
) {
    let token = license.map(|form| bench.credentials.license(form));
    let authorization =
        token.as_ref().map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
    let request = format!(
        "POST /v1/relay HTTP/1.1\r\nHost: localhost\r\n{authorization}Content-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mark = bench.service.mark();
    let mut stream = connect(bench.service.addr(), bench.tls(client, "http/1.1")).await.unwrap();
    let (answer, ended) = converse(&mut stream, request.as_bytes()).await;
    ended.unwrap();
    let answer = String::from_utf8(answer).unwrap();

    assert!(answer.starts_with(&format!("HTTP/1.1 {} ", row.status().unwrap())), "{stimulus}: {answer}");
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!((body["error"].as_str(), body["reason"].as_str()), (row.code(), row.code()), "{stimulus}");
    let arrivals = bench.service.arrivals_since(mark);
    assert_eq!(arrivals.len(), 1);
    assert_eq!(arrivals[0].cause, Some(stimulus));
    assert_eq!(arrivals[0].answer.as_ref().unwrap().status(), row.status());

    let client = client.map_or("none".to_owned(), |role| role.to_string());
    let request = match (&token, license) {
        (Some(token), Some(form)) => request.replace(token.as_str(), &format!("[license {}]", form.label())),
        _ => request,
    };
    let mut text = format!("# {stimulus}; client certificate: {client}\n{request}\n\n{answer}\n\n");
    if let Some(start) = text.find("xxxxxxxx") {
        let length = text[start..].bytes().take_while(|byte| *byte == b'x').count();
        text.replace_range(start..start + length, &format!("[{length} × x]"));
    }
    let lines = text.lines().filter(|line| !line.starts_with("date: "));
    lines.for_each(|line| writeln!(wire, "{line}").unwrap());
}

/// An expired certificate is an open point: this is what the profile says.
#[tokio::test]
async fn an_expired_certificate_is_answered_as_the_profile_says() {
    let bench = Bench::start().await;
    let mut wire = String::new();
    let spec = Spec::builtin(Version::Current);
    let row = spec.by_stimulus(Table::Relay, spec.profile().certificate_expired).unwrap();
    let (license, client) = (Some(LicenseForm::Valid), Some(Role::ClientExpired));
    provoke(&bench, row, Stimulus::CertificateExpired, license, client, "{}", &mut wire).await;
}

#[tokio::test]
async fn another_license_with_its_own_certificate_is_accepted() {
    let bench = Bench::start().await;
    let tls = bench.tls(Some(Role::ClientForOtherLicense), "http/1.1");
    let mut client = super::support::http1(connect(bench.service.addr(), tls).await.unwrap()).await;
    let mut request = bench.request("{}");
    let license = bench.credentials.license(LicenseForm::OtherLicense);
    request.headers_mut().insert("authorization", format!("Bearer {license}").parse().unwrap());
    let answer = super::support::read(client.send_request(request).await.unwrap()).await.unwrap();
    assert_eq!(answer, (200, r#"{"ok":true}"#.into()));
}

#[tokio::test]
async fn the_license_may_come_by_any_path_and_header_and_a_valid_one_wins() {
    let bench = Bench::start().await;
    let mut client = super::support::http1(bench.connect("http/1.1").await).await;
    let mut request = bench.request("{}");
    let license = bench.credentials.license(LicenseForm::Valid);
    let expired = bench.credentials.license(LicenseForm::Expired);
    request.headers_mut().insert("authorization", format!("Bearer {expired}").parse().unwrap());
    *request.uri_mut() = format!("/some/where?license={license}").parse().unwrap();
    *request.method_mut() = http::Method::PUT;
    let answer = super::support::read(client.send_request(request).await.unwrap()).await.unwrap();
    assert_eq!(answer, (200, r#"{"ok":true}"#.into()));
}
