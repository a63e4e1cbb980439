use std::sync::Arc;

use edgeproof_browser::CollectorCall;
use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Counted, PageEffect, PageValue};
use serde_json::Value;

use super::posted::NO_POST;
use crate::cases::{CaseList, Collector, CollectorCaseContext, CollectorPage, PageSetup, SealUse};
use crate::collector::{CollectorEdge, PageOrigin};
use crate::judge::{Check, resolves, shared_stream};

const APART: &str = "statement.collectors-apart";
const ONCE: &str = "statement.collection-posted-once";
const AFRESH: &str = "statement.collection-sealed-afresh";

/// Sessions in one page, and in several.
const IN_TURN: usize = 10;
const ELSEWHERE: usize = 4;

/// Several collectors, calls and collections (1.1, 2, 7.3).
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(
            APART,
            "several.at-once",
            "three collectors in a page send their own references to their own edges",
        )
        .steps(steps!(async |context| { at_once(context).await }))
        .also("setting.collector.api-url")
        .also("setting.collector.session-ref");
    cases
        .case(
            ONCE,
            "several.verified-at-once",
            "the collector posts the collection once if verify() is called twice at once",
        )
        .steps(steps!(async |context| { verified_at_once(context).await }));
    cases
        .case(
            APART,
            "several.in-turn",
            "ten sessions in a page, one after another, send their own references",
        )
        .steps(steps!(async |context| {
            let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
            in_turn(context, &edge, &page, IN_TURN).await;
        }));
    if cases.spec.row(AFRESH).is_some() {
        sealed_afresh(cases);
    }
}

async fn at_once(context: &mut CollectorCaseContext) {
    if !context.target.is_independent {
        context.found.not_applicable = Some("a second create() in a page makes no second collector".into());
        return;
    }
    let Some((first, page)) = context.opened(context.edge_setup()).await else { return };
    let Some(second) = context.edge(context.edge_setup()).await else { return };
    let sessions = [(&first, "one"), (&second, "two"), (&first, "three")];
    let calls = sessions.map(|(edge, name)| (context.options(&edge.url()), context.reference(name)));
    let Some(ends) = page.sessions_at_once(&calls).await else {
        context.found.not_run = Some("the page cannot run several sessions at once".into());
        return;
    };
    for (end, (_, name)) in ends.iter().zip(sessions) {
        let actual = end.as_ref().map(PageValue::text);
        let check = Check::page(PageEffect::SessionAtOnce, actual, end.is_none());
        context.check(check.which(&format!("number {name}")).at(CaseLevel::Should));
    }
    let [one, two, three] = calls.map(|(_, reference)| reference);
    for (edge, own) in [(&first, vec![one, three]), (&second, vec![two])] {
        own_references(context, edge, own);
    }
}

/// The edge got collections with these references only.
fn own_references(context: &mut CollectorCaseContext, edge: &CollectorEdge, own: Vec<String>) {
    let bodies: Vec<_> = edge.posts().into_iter().filter_map(|post| post.body).collect();
    if context.target.seal != SealUse::Opens {
        context.check(Check::counted(Counted::Collections, own.len(), bodies.len()).which("at the edge"));
        return;
    }
    let mut arrived: Vec<String> =
        bodies.iter().filter_map(|body| edge.open(body).ok()).map(|opened| opened.session_ref).collect();
    arrived.sort_unstable();
    let mut own = own;
    own.sort_unstable();
    let ok = arrived == own;
    let check = Check::page_is(PageEffect::OwnEdge, own.join(", "), PageValue::texts(arrived), ok);
    context.check(check.advise(Advice::CollectorsMixed));
}

async fn verified_at_once(context: &mut CollectorCaseContext) {
    let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
    let options = Value::Object(context.options(&edge.url()));
    let create = CollectorCall::Create { options, signal: false };
    let start = CollectorCall::Start { session_ref: Some(context.reference("verified-at-once")) };
    let began = page.play([create, start]).await;
    context.check(resolves(&began));
    let (first, second) = (page.begin(CollectorCall::Verify), page.begin(CollectorCall::Verify));
    let (first, second) = futures_util::join!(first, second);
    context.check(resolves(&first));
    // The interface does not say what a second call returns.
    context.check(resolves(&second).which("of the second call").at(CaseLevel::Should));
    edge.posted(2, NO_POST).await;
    let bodies: Vec<_> = edge.posts().into_iter().filter_map(|post| post.body).collect();
    let check = Check::counted(Counted::Collections, 1, bodies.len()).which("at the edge");
    context.check(check.advise(Advice::PostRepeated).at(CaseLevel::Should));
    let copies = bodies.iter().enumerate().filter(|(at, body)| bodies[..*at].contains(body)).count();
    context.check(Check::counted(Counted::Copies, 0, copies));
}

/// Plays sessions in a page, one after another. False: one of them failed.
async fn in_turn(
    context: &mut CollectorCaseContext,
    edge: &CollectorEdge,
    page: &CollectorPage,
    count: usize,
) -> bool {
    let before = edge.posts().len();
    let mut own = Vec::new();
    for number in 1..=count {
        // Later texts have other lengths, and the same reference comes again.
        let reference = context.reference(&"turn-".repeat(number.div_ceil(2)));
        let session = page.session(context.quick_options(&edge.url()), &reference).await;
        context.check(resolves(&session).which(&format!("number {number}")));
        if !session.is_returned() {
            return false;
        }
        own.push(reference);
    }
    let bodies: Vec<_> = edge.posts().into_iter().skip(before).filter_map(|post| post.body).collect();
    if context.target.seal == SealUse::Opens {
        let arrived: Vec<String> =
            bodies.iter().filter_map(|body| edge.open(body).ok()).map(|opened| opened.session_ref).collect();
        let ok = arrived == own;
        let check = Check::page_is(PageEffect::OwnEdge, own.join(", "), PageValue::texts(arrived), ok);
        context.check(check.advise(Advice::CollectorsMixed));
    }
    true
}

fn sealed_afresh(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(
            AFRESH,
            "sealed.afresh",
            "no two collections share a key or a key stream, in one page or in several",
        )
        .steps(steps!(async |context| {
            let Some(edge) = context.edge(context.edge_setup()).await else { return };
            // The second page is in a context of its own.
            let new = PageSetup { before: vec![String::new()], ..PageSetup::at(PageOrigin::Https) };
            for (setup, count) in [(PageSetup::at(PageOrigin::Https), IN_TURN), (new, ELSEWHERE)] {
                let Some(page) = context.page_with(setup).await else { return };
                if !in_turn(context, &edge, &page, count).await {
                    return;
                }
            }
            judge_afresh(context, &edge);
        }))
        .takes(std::time::Duration::from_secs(4));
}

fn judge_afresh(context: &mut CollectorCaseContext, edge: &Arc<CollectorEdge>) {
    let bodies: Vec<_> = edge.posts().into_iter().filter_map(|post| post.body).collect();
    if context.target.seal == SealUse::Opens {
        let key = |body: &bytes::Bytes| {
            let body: Value = serde_json::from_slice(body).ok()?;
            Some(body.get("encapsulatedKey")?.as_str()?.to_owned())
        };
        let keys: Vec<String> = bodies.iter().filter_map(key).collect();
        let again = keys.iter().enumerate().find(|(at, key)| keys[..*at].contains(key));
        let actual = again.map(|(_, key)| PageValue::text(key));
        let ok = actual.is_none();
        context.check(Check::page(PageEffect::FreshKey, actual, ok).advise(Advice::KeyReused));
    }
    let shared = shared_stream(&bodies);
    let actual = shared.as_deref().map(PageValue::text);
    context.check(Check::page(PageEffect::FreshStream, actual, shared.is_none()).advise(Advice::KeyReused));
}
