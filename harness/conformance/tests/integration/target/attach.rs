//! Attached edges.

use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::Spec;
use edgeproof_launch::BaseUrl;
use edgeproof_reports::TargetKind;
use edgeproof_targets::{Attached, StartError, Target};
use miette::Diagnostic;
use rstest::rstest;

use super::program::{command, get, launch};

#[tokio::test]
async fn attached_edge_keeps_running() {
    let launched = launch(&command("serve", "")).start(&EdgeSettings::default()).await.unwrap();
    let url =
        BaseUrl::of_edge(&format!("http://127.0.0.1:{}/below", launched.addr().port()), Spec::current())
            .unwrap();
    let target = Target::Attached(Attached { url, ca: None, ready_path: "/health".into() });
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
async fn unreachable_edge_is_an_error() {
    let held = edgeproof_launch::HeldPort::bind().unwrap();
    let url = BaseUrl::of_edge(&format!("http://{}", held.addr()), Spec::current()).unwrap();
    let error = Attached { url, ca: None, ready_path: "/health".into() }.start().await.unwrap_err();
    assert!(matches!(error, StartError::Unreachable { .. }), "{error:?}");
    assert!(error.help().unwrap().to_string().contains("check the URL"));

    let url = BaseUrl::of_edge("http://edge.invalid", Spec::current()).unwrap();
    let error = Attached { url, ca: None, ready_path: "/health".into() }.start().await.unwrap_err();
    assert!(matches!(error, StartError::Address(_)), "{error:?}");
}

/// The text is valid PEM, but holds no certificate.
#[tokio::test]
async fn invalid_ca_file_names_the_option_of_the_edge() {
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    let url = BaseUrl::of_edge("https://127.0.0.1:9", Spec::current()).unwrap();
    let error = Attached { url, ca: Some(ca), ready_path: "/health".into() }.start().await.unwrap_err();
    assert!(error.to_string().starts_with("cannot read the CA file "), "{error}");
    assert!(error.help().unwrap().to_string().starts_with("--edge-ca "));
}

#[rstest]
#[case("https://edge.example", "https://edge.example/")]
#[case("http://127.0.0.1:8080/", "http://127.0.0.1:8080/")]
#[case("http://[::1]:8080/edge/", "http://[::1]:8080/edge")]
fn base_url_of_an_edge_is_normalised(#[case] given: &str, #[case] expected: &str) {
    assert_eq!(BaseUrl::of_edge(given, Spec::current()).unwrap().as_url().as_str(), expected);
}

#[test]
fn invalid_base_url_is_an_error_with_advice() {
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
    let errors = wrong.map(|given| {
        let error = BaseUrl::of_edge(given, Spec::current()).unwrap_err();
        format!("{error}\n  help: {}\n", error.help().unwrap())
    });
    insta::assert_snapshot!(errors.concat());
}
