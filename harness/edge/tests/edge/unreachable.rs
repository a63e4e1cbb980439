use std::time::{Duration, Instant};

use bytes::Bytes;
use edgeproof_fixtures::credentials::Role;
use edgeproof_mock::{Action, ListenerMode};
use rstest::rstest;

use crate::support::{OK, UNREACHABLE, World, check, edge, exchange, plain_settings, post};

#[rstest]
#[case::closes(ListenerMode::Closes)]
#[case::garbage(ListenerMode::Garbage)]
#[case::plain_http(ListenerMode::PlainHttp)]
#[case::foreign_authority(ListenerMode::Tls(Role::OtherServiceServer))]
#[case::wrong_host(ListenerMode::Tls(Role::ServiceWrongHost))]
#[case::expired(ListenerMode::Tls(Role::ServiceExpired))]
#[tokio::test]
async fn a_listener_that_is_not_the_service(#[case] mode: ListenerMode) {
    let world = World::new().await;
    world.service.set_mode(mode).await.unwrap();
    check(&world.post("{}").await, 502, UNREACHABLE);
    assert!(world.service.journal().is_empty());
    assert!(world.lines().is_empty());

    world.service.set_mode(ListenerMode::Tls(Role::ServiceServer)).await.unwrap();
    let _accepts = world.scripted(200, OK);
    check(&world.post("{}").await, 200, OK);
}

#[rstest]
#[case::closes(Action::Close)]
#[case::resets(Action::Reset)]
#[case::cuts_the_head(Action::CutHead)]
#[case::garbage(Action::Raw(Bytes::from_static(b"\x00\x01 what?\r\n\r\n")))]
#[tokio::test]
async fn a_service_that_breaks_off_is_never_asked_twice(
    #[case] action: Action,
    #[values(false, true)] connection_is_pooled: bool,
    #[values(false, true)] http1: bool,
) {
    let world = if http1 { over_http1().await } else { World::new().await };
    if connection_is_pooled {
        let _accepts = world.scripted(200, OK);
        check(&world.post("before").await, 200, OK);
    }
    let scripted = world.script(action);
    check(&world.post("{}").await, 502, UNREACHABLE);
    assert_eq!(scripted.count(), 1);
    drop(scripted);
    let _accepts = world.scripted(200, OK);
    check(&world.post("after").await, 200, OK);
    let bodies: Vec<_> = world.service.journal().into_iter().map(|arrival| arrival.request.body).collect();
    assert_eq!(bodies.iter().filter(|body| &body[..] == b"{}").count(), 1);
    assert_eq!(bodies.iter().filter(|body| &body[..] == b"after").count(), 1);
}

#[tokio::test]
async fn a_private_authority_is_not_trusted_unasked() {
    let world = World::with(|settings| settings.service_ca_file = None).await;
    check(&world.post("{}").await, 502, UNREACHABLE);
    assert!(world.service.journal().is_empty());
}

#[rstest]
#[case::port_closed("http://127.0.0.1:1")]
#[case::no_such_name("http://service.invalid")]
#[tokio::test]
async fn an_address_without_a_service(#[case] url: &str) {
    let (_edge, endpoint, _) = edge(plain_settings(url)).await;
    check(&exchange(&endpoint, &post("{}")).await, 502, UNREACHABLE);
}

#[tokio::test]
async fn a_service_that_says_nothing_is_given_up_in_time() {
    let world = World::with_options(|options| options.service_timeout = Duration::from_millis(200)).await;
    let scripted = world.script(Action::Silence);
    let began = Instant::now();
    check(&world.post("{}").await, 502, UNREACHABLE);
    assert!(began.elapsed() >= Duration::from_millis(200));
    assert_eq!(scripted.count(), 1);
}

/// The service without TLS, and thus over HTTP/1.1.
async fn over_http1() -> World {
    let world = World::with(|settings| {
        let url = settings.service_url.take().unwrap();
        settings.service_url = Some(url.replace("https://", "http://"));
    })
    .await;
    world.service.set_mode(ListenerMode::PlainHttp).await.unwrap();
    world
}
