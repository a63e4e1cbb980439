use crate::cases::{
    CaseList, Conversation, Edge, EdgeNeed, EdgeObservation, EdgeRule, HEALTH, SIGNALS, collection,
    to_signals,
};
use crate::judge;
use edgeproof_http::Draft;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::Statuses;

/// The health check, other paths and HTTP/2 (4).
pub(in crate::cases::edge) fn add(cases: &mut CaseList<'_, Edge>) {
    let health = Conversation::request(Draft::new("GET", HEALTH))
        .expect(EdgeRule::Status(Statuses::Success))
        .observe_at("health.answer", EdgeObservation::Answer)
        .observe_at("health.status", EdgeObservation::Status)
        .observe_at("health.body", EdgeObservation::Body);
    cases
        .case("endpoint.edge.health", "health.exists", "the health check answers")
        .conversation(health)
        .requires(&[]);
    let post_to = |path: &str| Draft { path: path.to_owned(), ..collection() };
    let handshake = to_signals("GET")
        .header("Connection", "Upgrade")
        .header("Upgrade", "websocket")
        .header("Sec-WebSocket-Version", "13")
        .header("Sec-WebSocket-Key", "ZWRnZXByb29mIGtleSAxNg==");
    for (id, title, draft) in [
        ("root", "the answer to GET /", Draft::new("GET", "/")),
        ("unknown", "the answer to a POST to an unknown path", post_to("/v1/other")),
        (
            "trailing-slash",
            "the answer to a POST to the path with a trailing slash",
            post_to(&format!("{SIGNALS}/")),
        ),
        (
            "query",
            "the answer to a POST to the path with a query",
            post_to(&format!("{SIGNALS}?from=edgeproof")),
        ),
        ("websocket", "the answer to a WebSocket handshake on the path for collections", handshake),
    ] {
        let row = if id == "websocket" { "statement.websocket" } else { "statement.other-paths" };
        let exchange = Conversation::request(draft).script(cases.accept());
        cases
            .case(row, &format!("paths.{id}"), title)
            .conversation(exchange.observe(EdgeObservation::Status))
            .requires(&[]);
    }
    http2(cases);
}

fn http2(cases: &mut CaseList<'_, Edge>) {
    let (accept, accepted) = (cases.accept(), cases.accepted());
    cases
        .case(
            "statement.http2",
            "http2.accept",
            "the edge relays a collection and answers over HTTP/2 as over HTTP/1.1",
        )
        .steps(steps!(with(accept, accepted), async |context| {
            context.script(accept);
            let draft = context.fill(&collection());
            let Some(sent) = context.exchange_http2(&draft).await else {
                context.found.not_applicable = Some("the edge does not offer HTTP/2".into());
                return;
            };
            context.record(&draft, sent.clone());
            context.checks(judge::exact(&accepted, &sent.reply));
            let relayed = context.relayed().await;
            let body = draft.body.bytes();
            context.checks(judge::relayed_once(body, &relayed, &sent.reply, CaseLevel::Must));
        }))
        .requires(&[EdgeNeed::Service, EdgeNeed::Origin, EdgeNeed::Https]);
}
