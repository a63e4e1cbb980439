use crate::cases::{Catalog, HEALTH, Prerequisite, SIGNALS, collection, summary};
use crate::judge;
use edgeproof_http::Draft;

/// What is around the relay: health check, other paths, HTTP/2 (4).
pub(super) fn add(cases: &mut Catalog<'_>) {
    cases
        .edge_steps("endpoint.edge.health", "health.exists", "the health check exists", |context| {
            Box::pin(async move {
                let sent = context.send(&Draft::new("GET", HEALTH)).await;
                context.check(judge::status_in(
                    "200 to 299",
                    |status| (200..300).contains(&status),
                    &sent.reply,
                ));
                let observed = summary::answer(&context.marker, &sent.reply);
                context.observe("health.answer", observed);
            })
        })
        .requires(&[]);
    for (id, title, method, path) in [
        ("root", "GET /", "GET", "/"),
        ("unknown", "POST to a path that the interface does not have", "POST", "/v1/other"),
        ("trailing-slash", "POST to the path with a slash at its end", "POST", "/v1/signals/"),
        ("query", "POST to the path with a query", "POST", "/v1/signals?from=edgeproof"),
        ("websocket", "a request for a WebSocket on the path for collections", "GET", SIGNALS),
    ] {
        let point = format!("paths.{id}");
        let row = if id == "websocket" { "statement.websocket" } else { "statement.other-paths" };
        let accept = cases.accept();
        cases
            .edge_steps(row, &point.clone(), title, move |context| {
                let (accept, point) = (accept.clone(), point.clone());
                Box::pin(async move {
                    context.script(accept);
                    let mut draft = Draft::new(method, path);
                    if method == "POST" {
                        draft = Draft { path: path.into(), ..collection() };
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
                })
            })
            .requires(&[]);
    }
    http2(cases);
}

fn http2(cases: &mut Catalog<'_>) {
    let (accept, accepted) = (cases.accept(), cases.accepted());
    cases
        .edge_steps(
            "statement.http2",
            "http2.accept",
            "over HTTP/2 a collection is relayed and answered the same",
            move |context| {
                let (accept, accepted) = (accept.clone(), accepted.clone());
                Box::pin(async move {
                    context.script(accept);
                    let draft = context.fill(&collection());
                    let endpoint = context.edge.endpoint.clone();
                    let Some(sent) = edgeproof_http::send_http2(&endpoint, &draft, context.timeout).await
                    else {
                        context.found.not_applicable = Some("the edge does not offer HTTP/2".into());
                        return;
                    };
                    context.checks(judge::exact(&accepted, &sent.reply));
                    context.checks(judge::relayed_once(draft.body.bytes(), &context.arrivals()));
                    context.record(&draft, sent);
                })
            },
        )
        .requires(&[Prerequisite::Service, Prerequisite::Origin, Prerequisite::Https]);
}
