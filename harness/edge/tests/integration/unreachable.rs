use std::time::{Duration, Instant};

use bytes::Bytes;
use edgeproof_fixtures::credentials::Role;
use edgeproof_mock::{Action, ListenerMode};
use rstest::rstest;

use crate::support::{Fixture, OK, UNREACHABLE, check, edge, exchange, plain_settings, post};

#[rstest]
#[case::closes(ListenerMode::Closes)]
#[case::garbage(ListenerMode::Garbage)]
#[case::plain_http(ListenerMode::PlainHttp)]
#[case::foreign_authority(ListenerMode::Tls(Role::OtherServiceServer))]
#[case::wrong_host(ListenerMode::Tls(Role::ServiceWrongHost))]
#[case::expired(ListenerMode::Tls(Role::ServiceExpired))]
#[tokio::test]
async fn listener_that_is_not_the_service_is_502(#[case] mode: ListenerMode) {
    let fixture = Fixture::new().await;
    fixture.service.set_mode(mode).await.unwrap();
    check(&fixture.post("{}").await, 502, UNREACHABLE);
    assert!(fixture.service.journal().is_empty());
    assert!(fixture.lines().is_empty());

    fixture.service.set_mode(ListenerMode::Tls(Role::ServiceServer)).await.unwrap();
    let _accept = fixture.scripted(200, OK);
    check(&fixture.post("{}").await, 200, OK);
}

#[rstest]
#[case::closes(Action::Close)]
#[case::resets(Action::Reset)]
#[case::cuts_the_head(Action::CutHead)]
#[case::garbage(Action::RawBytes(Bytes::from_static(b"\x00\x01 what?\r\n\r\n")))]
#[tokio::test]
async fn broken_exchange_is_not_retried(
    #[case] action: Action,
    #[values(false, true)] pooled_connection: bool,
    #[values(ListenerMode::PlainHttp, ListenerMode::Tls(Role::ServiceServer))] mode: ListenerMode,
) {
    let fixture = Fixture::in_mode(mode).await;
    if pooled_connection {
        let _accept = fixture.scripted(200, OK);
        check(&fixture.post("before").await, 200, OK);
    }
    let scripted = fixture.script(action);
    check(&fixture.post("{}").await, 502, UNREACHABLE);
    assert_eq!(scripted.count(), 1);
    drop(scripted);
    let _accept = fixture.scripted(200, OK);
    check(&fixture.post("after").await, 200, OK);
    let bodies: Vec<_> = fixture.service.journal().into_iter().map(|arrival| arrival.request.body).collect();
    assert_eq!(bodies.iter().filter(|body| &body[..] == b"{}").count(), 1);
    assert_eq!(bodies.iter().filter(|body| &body[..] == b"after").count(), 1);
}

#[tokio::test]
async fn private_ca_without_ca_file_is_502() {
    let fixture = Fixture::with(|settings| settings.service_ca_file = None).await;
    check(&fixture.post("{}").await, 502, UNREACHABLE);
    assert!(fixture.service.journal().is_empty());
}

#[rstest]
#[case::port_closed("http://127.0.0.1:1")]
#[case::no_such_name("http://service.invalid")]
#[tokio::test]
async fn unreachable_address_is_502(#[case] url: &str) {
    let (_edge, endpoint, _) = edge(plain_settings(url)).await;
    check(&exchange(&endpoint, &post("{}")).await, 502, UNREACHABLE);
}

#[tokio::test]
async fn silent_service_is_502_after_the_timeout() {
    let fixture = Fixture::with_options(|options| options.service_timeout = Duration::from_millis(200)).await;
    let scripted = fixture.script(Action::Silence);
    let began = Instant::now();
    check(&fixture.post("{}").await, 502, UNREACHABLE);
    assert!(began.elapsed() >= Duration::from_millis(200));
    assert_eq!(scripted.count(), 1);
}
