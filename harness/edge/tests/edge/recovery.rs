use std::sync::Arc;

use edgeproof_mock::{Listen, ListenerMode, MockService, ServiceOptions};
use rstest::rstest;

use crate::support::{
    OK, SIGNALS, UNREACHABLE, World, answer, check, draft, edge, exchange, plain_settings, post, script,
};

#[tokio::test]
async fn the_service_goes_away_and_comes_back_on_its_port() {
    let world = World::new().await;
    let World { spec, credentials, service, endpoint, .. } = world;
    let addr = service.addr();
    let accepts = service.script(edgeproof_mock::Match::Everything, script(answer(200, OK)));
    check(&exchange(&endpoint, &post("before")).await, 200, OK);
    drop(accepts);
    service.stop().await;

    check(&exchange(&endpoint, &post("meanwhile")).await, 502, UNREACHABLE);

    let mut options = ServiceOptions::new(spec, Arc::clone(&credentials));
    options.listener = Listen::At(addr);
    let service = MockService::start_with(options).await.unwrap();
    let _accepts = service.script(edgeproof_mock::Match::Everything, script(answer(200, OK)));
    check(&exchange(&endpoint, &post("after")).await, 200, OK);
    assert_eq!(service.journal().len(), 1);
}

/// The case that a pool gets wrong now and then: hence many times.
#[rstest]
#[case::http1(ListenerMode::PlainHttp)]
#[case::http2(ListenerMode::Tls(edgeproof_fixtures::credentials::Role::ServiceServer))]
#[tokio::test(flavor = "multi_thread")]
async fn a_pooled_connection_is_closed_under_it(#[case] mode: ListenerMode) {
    let world = World::with(|settings| {
        if mode == ListenerMode::PlainHttp {
            settings.service_url = settings.service_url.take().map(|url| url.replace("https:", "http:"));
        }
    })
    .await;
    world.service.set_mode(mode).await.unwrap();
    let _accepts = world.scripted(200, OK);
    for round in 0..200 {
        check(&world.post(format!("round {round}")).await, 200, OK);
        world.service.close_connections().await;
    }
    assert_eq!(world.service.journal().len(), 200);
}

#[rstest]
#[case::http1(ListenerMode::PlainHttp)]
#[case::http2(ListenerMode::Tls(edgeproof_fixtures::credentials::Role::ServiceServer))]
#[tokio::test]
async fn connections_are_kept(#[case] mode: ListenerMode) {
    let world = World::with(|settings| {
        if mode == ListenerMode::PlainHttp {
            settings.service_url = settings.service_url.take().map(|url| url.replace("https:", "http:"));
        }
    })
    .await;
    world.service.set_mode(mode).await.unwrap();
    for status in [200, 401, 200, 204, 400, 200] {
        let _scripted = world.scripted(status, OK);
        world.post("{}").await;
    }
    let connections = world.service.connections_accepted();
    assert!(connections <= 3, "{connections} connections for 6 requests one after the other");
}

#[tokio::test]
async fn a_service_that_never_keeps_connections_is_no_trouble() {
    let service = wiremock::MockServer::start().await;
    let closing = wiremock::ResponseTemplate::new(200).insert_header("connection", "close");
    wiremock::Mock::given(wiremock::matchers::any()).respond_with(closing).mount(&service).await;
    let (_edge, endpoint, _) = edge(plain_settings(&service.uri())).await;
    for _ in 0..50 {
        check(&exchange(&endpoint, &post("{}")).await, 200, OK);
    }
    assert_eq!(service.received_requests().await.unwrap().len(), 50);
}

#[tokio::test]
async fn two_requests_on_one_connection_of_the_page() {
    let world = World::new().await;
    let _accepts = world.scripted(200, OK);
    let drafts = [post("first"), draft("GET", SIGNALS), post("second")];
    let answers = edgeproof_http::send_in_turn(&world.endpoint, &drafts, crate::support::LIMIT).await;
    let statuses: Vec<_> = answers.into_iter().map(|sent| sent.reply.unwrap().status).collect();
    assert_eq!(statuses, [200, 405, 200]);
}
