use crate::cases::{
    CaseList, Conversation, Edge, EdgeNeed, EdgeObservation, EdgeRule, ExpectedRelay, HEALTH, SIGNALS,
    collection, to_signals,
};
use crate::judge;
use edgeproof_http::Draft;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::Statuses;

/// The health check, other paths and HTTP/2 (4).
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
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
    odd_values(cases);
    http2(cases);
}

/// Request targets that a decoder of percent escapes or a parser of URLs refuses.
const ODD_TARGETS: [&str; 10] = [
    "/%",
    "/%zz",
    "/%00",
    "/%c0%af",
    "/%E0%A4%A",
    "/%2e%2e/%2e%2e/",
    "//",
    "/?%",
    "/?a[=1&a]=2&__proto__[x]=1",
    "/a;b=%",
];

/// Header fields that a parser of their values refuses.
const ODD_FIELDS: [(&str, &str); 9] = [
    ("Origin", "%"),
    ("Origin", "https://["),
    ("Referer", "http://%"),
    ("Cookie", "a=%; =; ;"),
    ("Content-Type", ";"),
    ("Content-Type", "application/json; charset=edgeproof"),
    ("X-Forwarded-For", "%, [::, unknown"),
    ("Accept-Language", ";q=x"),
    ("Authorization", "Basic %"),
];

/// Anybody can send these: an answer of any kind is fine, an edge that ends or hangs is not.
fn odd_values(cases: &mut CaseList<'_, Edge>) {
    let of_collections = ["%", "?%zz=%"].map(|end| format!("{SIGNALS}{end}"));
    let targets = ODD_TARGETS.map(str::to_owned).into_iter().chain(of_collections);
    let targets = targets.map(|target| [Draft::new("GET", &target), Draft { path: target, ..collection() }]);
    let fields = ODD_FIELDS.map(|(name, value)| {
        let mut draft = collection();
        draft.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        draft.header(name, value)
    });
    let odd: Vec<Draft> = targets.flatten().chain(fields).collect();
    let (accept, next) = (cases.accept(), cases.accepted_post().relay(ExpectedRelay::Any));
    cases
        .case(
            "statement.edge-lives-on",
            "paths.odd-values",
            "the edge still works after request targets and header fields that a parser refuses",
        )
        .steps(steps!(with(odd, accept, next), async |context| {
            context.script(accept);
            // Their own answers are open.
            for draft in &odd {
                let draft = context.fill(draft);
                let (marker, limit) = (context.marker.clone(), context.timeout);
                let sent = context.exchange_as(&marker, CaseLevel::Open, &draft, limit).await;
                // It may have ended the edge.
                if sent.reply.is_err() {
                    context.record(&draft, sent);
                }
            }
            context.converse(&next).await;
        }))
        .exclusive();
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
