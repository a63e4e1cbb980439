//! Mock service against reqwest, which shares only TLS with the harness.

use edgeproof_fixtures::credentials::{LicenseForm, ReadTokenForm, Role};
use edgeproof_mock::NewSession;
use reqwest::{Client, Version};
use rstest::rstest;

use super::support::{Bench, LONG, within};

fn client(bench: &Bench, protocol: &str) -> Client {
    let tls = (*bench.tls(Some(Role::ClientForLicense), protocol)).clone();
    let builder = Client::builder().no_proxy().timeout(LONG).tls_backend_preconfigured(tls);
    if protocol == "h2" { builder } else { builder.http1_only() }.build().unwrap()
}

#[rstest]
#[case("http/1.1", Version::HTTP_11)]
#[case("h2", Version::HTTP_2)]
#[tokio::test]
async fn collection_leads_to_its_verdict(#[case] protocol: &str, #[case] version: Version) {
    let bench = Bench::start().await;
    let client = client(&bench, protocol);
    let waiting = client
        .get(bench.uri("/v1/verdict/order%204711?waitMs=30000"))
        .bearer_auth(bench.credentials.read_token(ReadTokenForm::Valid));
    let waiting = tokio::spawn(waiting.send());
    within(bench.service.polls().wait_for(|waiting| *waiting == 1)).await.unwrap();

    let collection = bench.sealed("order 4711");
    let accepted = client
        .post(bench.uri("/v1/relay"))
        .bearer_auth(bench.credentials.license(LicenseForm::Valid))
        .header("content-type", "application/json")
        .body(collection)
        .send()
        .await
        .unwrap();
    assert_eq!((accepted.status().as_u16(), accepted.version()), (200, version));
    assert_eq!(accepted.text().await.unwrap(), r#"{"ok":true}"#);

    let verdict = waiting.await.unwrap().unwrap();
    assert_eq!((verdict.status().as_u16(), verdict.version()), (200, version));
    assert_eq!(verdict.headers()["content-type"], "application/json");
    let verdict: serde_json::Value = serde_json::from_slice(&verdict.bytes().await.unwrap()).unwrap();
    assert_eq!((verdict["ref"].as_str(), verdict["decision"].as_str()), (Some("order 4711"), Some("allow")));

    let keys = client.get(bench.uri("/.well-known/browser-verdict-jwks.json")).send().await.unwrap();
    assert_eq!(keys.status().as_u16(), 200);
}

#[rstest]
#[tokio::test]
async fn aborted_poll_stops_waiting(#[values("http/1.1", "h2")] protocol: &str) {
    let bench = Bench::start().await;
    let request = client(&bench, protocol)
        .get(bench.uri("/v1/verdict/r?waitMs=30000"))
        .bearer_auth(bench.credentials.read_token(ReadTokenForm::Valid));
    let mut polls = bench.service.polls();
    let waiting = tokio::spawn(request.send());
    within(polls.wait_for(|waiting| *waiting == 1)).await.unwrap();
    waiting.abort();
    within(polls.wait_for(|waiting| *waiting == 0)).await.unwrap();
    bench.service.add_session(NewSession::new("r"));
}
