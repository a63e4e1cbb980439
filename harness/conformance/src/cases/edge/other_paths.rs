use crate::cases::{CaseList, Edge, EdgeNeed, HEALTH, SIGNALS, collection, summary};
use crate::judge;
use edgeproof_http::Draft;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::Statuses;

/// The health check, other paths and HTTP/2 (4).
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    cases
        .case("endpoint.edge.health", "health.exists", "the health check answers")
        .steps(steps!(async |context| {
            let sent = context.send(&Draft::new("GET", HEALTH)).await;
            context.check(judge::status_in(Statuses::Success, &sent.reply));
            let observed = summary::answer(&context.marker, &sent.reply);
            context.observe("health.answer", observed);
        }))
        .requires(&[]);
    for (id, title, method, path) in [
        ("root", "the answer to GET /", "GET", "/".to_owned()),
        ("unknown", "the answer to a POST to an unknown path", "POST", "/v1/other".to_owned()),
        (
            "trailing-slash",
            "the answer to a POST to the path with a trailing slash",
            "POST",
            format!("{SIGNALS}/"),
        ),
        (
            "query",
            "the answer to a POST to the path with a query",
            "POST",
            format!("{SIGNALS}?from=edgeproof"),
        ),
        (
            "websocket",
            "the answer to a WebSocket handshake on the path for collections",
            "GET",
            SIGNALS.to_owned(),
        ),
    ] {
        let point = format!("paths.{id}");
        let row = if id == "websocket" { "statement.websocket" } else { "statement.other-paths" };
        let accept = cases.accept();
        cases
            .case(row, &point.clone(), title)
            .steps(steps!(
                async |context| {
                    context.script(accept);
                    let mut draft = Draft::new(method, &path);
                    if method == "POST" {
                        draft = Draft { path, ..collection() };
                    }
                    if point == "paths.websocket" {
                        draft = draft
                            .header("Connection", "Upgrade")
                            .header("Upgrade", "websocket")
                            .header("Sec-WebSocket-Version", "13")
                            .header("Sec-WebSocket-Key", "ZWRnZXByb29mIGtleSAxNg==");
                    }
                    let sent = context.send(&draft).await;
                    let observed = summary::status(&sent.reply);
                    context.observe(&point, observed);
                },
                with(accept, point, path)
            ))
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
        .steps(steps!(
            async |context| {
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
            },
            with(accept, accepted)
        ))
        .requires(&[EdgeNeed::Service, EdgeNeed::Origin, EdgeNeed::Https]);
}
