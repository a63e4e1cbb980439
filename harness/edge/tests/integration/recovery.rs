use std::sync::Arc;

use edgeproof_fixtures::credentials::Role;
use edgeproof_mock::{Listen, ListenerMode, MockService, ServiceOptions};
use rstest::rstest;

use crate::support::{
    Fixture, OK, SIGNALS, UNREACHABLE, answer, check, draft, edge, exchange, plain_settings, post, script,
};

#[tokio::test]
async fn edge_recovers_after_the_service_restarts() {
    let fixture = Fixture::new().await;
    let Fixture { spec, credentials, service, endpoint, .. } = fixture;
    let addr = service.addr();
    let accepts = service.script(edgeproof_mock::Match::Everything, script(answer(200, OK)));
    check(&exchange(&endpoint, &post("before")).await, 200, OK);
    drop(accepts);
    service.stop().await;

    check(&exchange(&endpoint, &post("meanwhile")).await, 502, UNREACHABLE);

    let mut options = ServiceOptions::new(spec, Arc::clone(&credentials));
    options.listener = Listen::At(addr);
    let service = MockService::start_with(options).await.unwrap();
    let _accept = service.script(edgeproof_mock::Match::Everything, script(answer(200, OK)));
    check(&exchange(&endpoint, &post("after")).await, 200, OK);
    assert_eq!(service.journal().len(), 1);
}

/// A race in connection pools, hence many rounds.
#[rstest]
#[case::http1(ListenerMode::PlainHttp)]
#[case::http2(ListenerMode::Tls(Role::ServiceServer))]
#[tokio::test(flavor = "multi_thread")]
async fn closed_pooled_connection_is_replaced(#[case] mode: ListenerMode) {
    let fixture = Fixture::in_mode(mode).await;
    let _accept = fixture.scripted(200, OK);
    for round in 0..200 {
        check(&fixture.post(format!("round {round}")).await, 200, OK);
        fixture.service.close_connections().await;
    }
    assert_eq!(fixture.service.journal().len(), 200);
}

#[rstest]
#[case::http1(ListenerMode::PlainHttp)]
#[case::http2(ListenerMode::Tls(Role::ServiceServer))]
#[tokio::test]
async fn connections_are_reused(#[case] mode: ListenerMode) {
    let fixture = Fixture::in_mode(mode).await;
    for status in [200, 401, 200, 204, 400, 200] {
        let _scripted = fixture.scripted(status, OK);
        fixture.post("{}").await;
    }
    let connections = fixture.service.connections_accepted();
    assert!(connections <= 3, "{connections} connections for 6 sequential requests");
}

#[tokio::test]
async fn service_that_closes_every_connection_gets_every_request() {
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
async fn requests_on_one_client_connection_are_answered_in_order() {
    let fixture = Fixture::new().await;
    let _accept = fixture.scripted(200, OK);
    let drafts = [post("first"), draft("GET", SIGNALS), post("second")];
    let answers = edgeproof_http::send_in_turn(&fixture.endpoint, &drafts, crate::support::LIMIT).await;
    let statuses: Vec<_> = answers.into_iter().map(|sent| sent.reply.unwrap().status).collect();
    assert_eq!(statuses, [200, 405, 200]);
}
