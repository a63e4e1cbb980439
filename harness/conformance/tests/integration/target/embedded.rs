//! The reference edge as a target.

use std::sync::Arc;

use edgeproof::cases::Setup;
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, EdgeSettings, MintOptions};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_http::{Body, Draft, NoAnswer, send};
use edgeproof_launch::HeldPort;
use edgeproof_reports::TargetKind;
use edgeproof_targets::{Embedded, StartError, Target};
use miette::Diagnostic;
use rstest::rstest;
use tokio::time::timeout;

use super::program::get;

/// Timeout of each test.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(20);

fn embedded() -> Embedded {
    let spec = Arc::new(Spec::builtin(Version::Current));
    let profile = spec.profile().clone();
    Embedded::new(spec, profile)
}

#[rstest]
#[case::http(false)]
#[case::https(true)]
#[tokio::test]
async fn embedded_edge_serves_real_sockets(#[case] https: bool) {
    let credentials = Credentials::mint(&MintOptions::default()).unwrap();
    let files = CredentialFiles::write(&credentials).unwrap();
    let service = HeldPort::bind().unwrap();
    let settings =
        Setup::PortClosed.settings(&credentials, &files, &format!("https://{}", service.addr())).unwrap();
    let embedded = if https { embedded().https(&credentials, &files) } else { embedded() };
    let target = Target::Embedded(Box::new(embedded));
    assert_eq!((target.kind(), target.name()), (TargetKind::Embedded, ""));

    let edge = target.start(&settings).await.unwrap();
    assert_eq!(edge.endpoint().is_tls(), https);
    assert_eq!(get(edge.endpoint(), "/health").await.unwrap().status, 200);
    let draft = Draft::new("POST", "/v1/signals").body(Body::Sized(r#"{"sealed":1}"#.into()));
    let answer = send(edge.endpoint(), &draft, LIMIT).await.reply.unwrap();
    assert_eq!((answer.status, &answer.body[..]), (502, &br#"{"error":"service_unreachable"}"#[..]));
    assert!(edge.pid().is_none() && edge.exited().is_none());

    let (endpoint, log) = (edge.endpoint().clone(), edge.log().unwrap().clone());
    edge.stop().await;
    // A child that another test forks holds a copy of the listener until it runs its program. Until then a connection
    // succeeds and is reset.
    let refuses = async {
        loop {
            match send(&endpoint, &Draft::new("GET", "/health"), LIMIT).await.reply {
                Err(NoAnswer::NotConnected(_)) => break,
                Err(NoAnswer::NoTls(_) | NoAnswer::Reset) => {}
                reply => panic!("{reply:?}"),
            }
        }
    };
    timeout(LIMIT, refuses).await.unwrap();
    // The log has ended: a wait returns at once.
    timeout(LIMIT, log.wait(log.mark(), std::time::Duration::MAX, |_| false)).await.unwrap();
}

#[tokio::test]
async fn invalid_setting_of_the_embedded_edge_is_an_error() {
    let settings = EdgeSettings { service_url: Some("service".into()), ..EdgeSettings::default() };
    let error = embedded().start(&settings).await.unwrap_err();
    assert!(matches!(error, StartError::Embedded(_)), "{error:?}");
    assert!(error.help().unwrap().to_string().contains("scheme, host"), "{error}");
}
