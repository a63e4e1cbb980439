//! Edges that run already.

use edgeproof::target::{Attached, StartError, Target};
use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_launch::BaseUrl;
use edgeproof_reports::TargetKind;
use miette::Diagnostic;
use rstest::rstest;

use crate::program::{command, get, launch};

#[tokio::test]
async fn an_edge_that_answers_is_attached_to_and_left_alone() {
    let launched = launch(&command("serve", "")).start(&EdgeSettings::default()).await.unwrap();
    let url = BaseUrl::of_edge(&format!("http://127.0.0.1:{}/below", launched.addr().port())).unwrap();
    let target = Target::Attached(Attached { url, ca: None });
    assert_eq!(target.kind(), TargetKind::Attached);
    let edge = target.start(&EdgeSettings::default()).await.unwrap();
    assert_eq!(edge.addr(), launched.addr());
    assert_eq!(edge.endpoint().base(), "/below");
    assert!(edge.log().is_none() && edge.exited().is_none() && edge.pid().is_none());
    edge.stop().await;
    assert_eq!(get(launched.endpoint(), "/health").await.unwrap().status, 404);
    launched.stop().await;
}

#[tokio::test]
async fn an_edge_that_is_not_there_is_told() {
    let held = edgeproof_launch::HeldPort::bind().unwrap();
    let url = BaseUrl::of_edge(&format!("http://{}", held.addr())).unwrap();
    let error = Attached { url, ca: None }.start().await.unwrap_err();
    assert!(matches!(error, StartError::Unreachable { .. }), "{error:?}");
    assert!(error.help().unwrap().to_string().contains("check the URL"));

    let url = BaseUrl::of_edge("http://edge.invalid").unwrap();
    let error = Attached { url, ca: None }.start().await.unwrap_err();
    assert!(matches!(error, StartError::Address(_)), "{error:?}");
}

#[rstest]
#[case("https://edge.example", "https://edge.example/")]
#[case("http://127.0.0.1:8080/", "http://127.0.0.1:8080/")]
#[case("http://[::1]:8080/edge/", "http://[::1]:8080/edge")]
fn addresses_of_edges(#[case] given: &str, #[case] expected: &str) {
    assert_eq!(BaseUrl::of_edge(given).unwrap().as_url().as_str(), expected);
}

#[test]
fn what_is_no_address_of_an_edge_is_told_with_what_to_do() {
    let wrong = [
        "edge.example",
        "localhost:8080",
        "",
        "ftp://edge.example",
        "https://",
        "https://user:hush@edge.example",
        "https://edge.example/?a=b",
        "https://edge.example/#top",
        "https://edge.example:0",
        "https://edge.example:99999",
        "https://edge.example/eu/v1/signals",
        "https://edge.example/health",
    ];
    let told = wrong.map(|given| {
        let error = BaseUrl::of_edge(given).unwrap_err();
        format!("failed to {error}\n  help: {}\n", error.help().unwrap())
    });
    insta::assert_snapshot!(told.concat());
}
