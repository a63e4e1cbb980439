use std::time::Duration;

use edgeproof_browser::CollectorCall;
use edgeproof_fixtures::spec::{Advice, Endpoint};
use edgeproof_mock::Script;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Count, Counted, DifferenceKind, PageDatum, PageEffect, PageValue};
use http::Method;
use serde_json::Value;

use crate::cases::{CaseList, Collector, CollectorCaseContext};
use crate::collector::{CollectorEdge, SeenRequest};
use crate::judge::{Check, decoded_forms, places_in, resolves};

const ROW: &str = "statement.collection-posted";
const ONCE: &str = "statement.collection-posted-once";

/// The POST of the collection (1.1, 4, 7.3).
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    accepted(cases);
    request(cases);
    once(cases);
    different(cases);
    private(cases);
}

fn accepted(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(ROW, "post.accepted", "verify() resolves if the service accepts the session")
        .steps(steps!(async |context| {
            let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
            let reference = context.reference("accepted");
            let session = page.session(context.options(&edge.url()), &reference).await;
            context.check(resolves(&session));
            let posts = edge.posts().len().max(page.posts().await);
            context.check(Check::counted(Counted::Collections, 1, posts).which("at the edge"));
        }))
        .also("setting.collector.session-ref");
}

fn request(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(
            ROW,
            "post.request",
            "the collector posts the collection as JSON to the edge's path for collections",
        )
        .steps(steps!(async |context| {
            let Some((edge, record)) = one_session(context).await else { return };
            let path = context.spec().path(Endpoint::Signals).to_owned();
            let requests = edge.requests();
            // A measurement may read from the edge.
            let bodies = |request: &&SeenRequest| match request.method {
                Method::OPTIONS => false,
                Method::GET | Method::HEAD => request.path == path,
                _ => true,
            };
            let seen = requests
                .iter()
                .filter(bodies)
                .map(|request| format!("{} {}", request.method, request.path))
                .collect::<Vec<_>>();
            let expected = format!("POST {path}");
            let is_right = !seen.is_empty() && seen.iter().all(|one| *one == expected);
            let seen = (!seen.is_empty()).then(|| PageValue::texts(seen));
            let kind = DifferenceKind::page(PageEffect::Requests, Some(expected.into()), seen);
            context.check(Check::judged(kind, is_right));
            let urls: Vec<&str> = record
                .requests
                .iter()
                .filter(|request| request.method == "POST" && request.url.starts_with(&edge.url()))
                .map(|request| request.url.as_str())
                .collect();
            let expected = format!("{}{path}", edge.url());
            let is_right = !urls.is_empty() && urls.iter().all(|url| *url == expected);
            let urls = PageValue::texts(urls);
            context.check(Check::page_is(PageEffect::Url, expected, urls, is_right));
            let posts = edge.posts();
            let body = posts.first().and_then(|post| post.body.clone()).unwrap_or_default();
            let is_json = serde_json::from_slice::<Value>(&body).is_ok();
            context.check(Check::page(PageEffect::Body, Some(PageValue::text(&*body)), is_json));
            if let Some(post) = posts.first() {
                let kind = post.headers.get("content-type").and_then(|kind| kind.to_str().ok());
                context.observe("collector.content-type", kind.unwrap_or("none"));
            }
            let sockets: Vec<String> =
                record.websockets.iter().map(|one| one.url.replace(&edge.url()[5..], "…")).collect();
            let sockets = if sockets.is_empty() { "none".into() } else { sockets.join(", ") };
            context.observe("collector.websocket", sockets.replace("wss", "ws"));
        }))
        .observes(["collector.content-type", "collector.websocket"])
        .also("setting.collector.api-url")
        .also("endpoint.edge.signals");
}

/// A session in the default mode at a correct edge, with what its page did.
async fn one_session(
    context: &mut CollectorCaseContext,
) -> Option<(std::sync::Arc<CollectorEdge>, edgeproof_browser::PageRecord)> {
    let (edge, page) = context.opened(context.edge_setup()).await?;
    let session = page.session(context.options(&edge.url()), &context.reference("post")).await;
    context.check(resolves(&session));
    let record = page.record().await;
    Some((edge, record))
}

fn once(cases: &mut CaseList<'_, Collector>) {
    // An edge and a service may take so long, and `fetch` has no limit of its own. Whether the seal opens is for other cases.
    let mut slow = cases.accept();
    slow.replies.iter_mut().for_each(|reply| reply.delay = Duration::from_secs(4));
    for (id, title, script, verifies) in [
        ("accepted", "an accepted collection", None, 1),
        ("slow", "a slowly answered collection", Some(slow), 1),
        ("verified-twice", "the collection of a session that is verified twice", None, 2),
    ] {
        cases
            .case(ONCE, &format!("post.once.{id}"), &format!("the collector posts {title} once"))
            .steps(steps!(with(script), async |context| { posted_once(context, script, verifies).await }));
    }
}

/// Longest wait for a collection that nobody should post again.
pub(super) const NO_POST: Duration = Duration::from_millis(250);

async fn posted_once(context: &mut CollectorCaseContext, script: Option<Script>, verifies: usize) {
    let Some(edge) = context.edge(context.edge_setup()).await else { return };
    let _script = script.map(|script| edge.script(script));
    let Some(page) = context.page().await else { return };
    let session = page.session(context.quick_options(&edge.url()), &context.reference("once")).await;
    for _ in 1..verifies {
        page.play([CollectorCall::Verify]).await;
    }
    edge.posted(2, NO_POST).await;
    let bodies: Vec<_> = edge.posts().into_iter().filter_map(|post| post.body).collect();
    let posts = bodies.len().max(page.posts().await);
    let count = Count {
        session: bodies.is_empty().then(|| session.value()),
        ..Count::new(Counted::Collections, 1, posts)
    };
    // A second verify() may begin another collection of the same session.
    let level = if verifies > 1 { CaseLevel::Should } else { CaseLevel::Must };
    context.check(
        Check::judged(count, bodies.len() == 1 && posts == 1)
            .which("at the edge")
            .advise(Advice::PostRepeated)
            .at(level),
    );
    let copies = bodies.iter().enumerate().filter(|(at, body)| bodies[..*at].contains(body)).count();
    context.check(Check::counted(Counted::Copies, 0, copies));
    // Last: a copy that the service refuses is the reason, not the result.
    context.check(resolves(&session));
}

fn different(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(
            ONCE,
            "post.different",
            "two collections are never the same, even for the same page and reference",
        )
        .steps(steps!(async |context| {
            let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
            for _ in 0..2 {
                let session =
                    page.session(context.quick_options(&edge.url()), &context.reference("same")).await;
                context.check(resolves(&session));
            }
            let bodies: Vec<_> = edge.posts().into_iter().filter_map(|post| post.body).collect();
            let [first, second, ..] = &bodies[..] else {
                let actual = PageValue::Number(bodies.len() as u64);
                context.check(Check::page_is(PageEffect::CollectionsArrive, "2", actual, false));
                return;
            };
            let same = (first == second).then(|| PageValue::text(&**first));
            let check = Check::page(PageEffect::DistinctCollections, same, first != second);
            context.check(check.advise(Advice::CollectionRepeated));
        }));
}

fn private(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(
            "statement.page-data-private",
            "post.private",
            "no request of a session contains data of the page that the page did not give to the collector",
        )
        .steps(steps!(async |context| {
            let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
            let session = page.session(context.options(&edge.url()), &context.reference("private")).await;
            context.check(resolves(&session));
            let mut found = Vec::new();
            for request in edge.requests() {
                let head = format!("{} {:?}", request.path, request.headers);
                let body = request.body.unwrap_or_default();
                // A service gets no data of the page in a seal either.
                let sealed = if body.is_empty() {
                    None
                } else {
                    context.open(&edge, &body).await.and_then(Result::ok)
                };
                let sealed = sealed.map(|opened| opened.text).unwrap_or_default();
                let forms: Vec<Vec<u8>> =
                    [head.as_bytes(), &body, &sealed].into_iter().flat_map(decoded_forms).collect();
                for place in places_in(&page.canaries(), &forms) {
                    let method = request.method.as_str().into();
                    let path = (&request.path).into();
                    found.push(PageDatum { place, method, path });
                }
            }
            let ok = found.is_empty();
            let actual = (!ok).then_some(PageValue::Data(found));
            context.check(Check::page(PageEffect::PageData, actual, ok));
        }));
}
