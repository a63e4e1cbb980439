use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use edgeproof_browser::CollectorCall;
use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Count, Counted, PageEffect, PageValue};
use serde_json::Value;

use super::posted::NO_POST;
use crate::cases::{CaseList, Collector, CollectorCaseContext, CollectorPage, PageSetup, SealUse};
use crate::collector::{CollectorEdge, PageOrigin, PostReaction};
use crate::judge::{Check, resolves, shared_stream};

const APART: &str = "statement.collectors-apart";
const ONCE: &str = "statement.collection-posted-once";
const AFRESH: &str = "statement.collection-sealed-afresh";

/// Sessions in one page, and in several.
const IN_TURN: usize = 10;
const ELSEWHERE: usize = 4;
/// Longest time of these.
const TAKES: Duration = Duration::from_secs(5);

/// Runs sessions at the same time, and yields the error of each that failed.
const AT_ONCE: &str = "async (create, sessions) => {
  const begun = sessions.map(async ([options, reference]) => {
    const collector = await create(options);
    await collector.start(reference);
    return collector;
  });
  // All have started before one of them is waited for.
  await Promise.allSettled(begun);
  const ended = async (collector) => {
    try {
      await (await collector).ready();
      await (await collector).verify();
      return null;
    } catch (error) {
      return `${error?.name}: ${error?.message ?? error}`;
    }
  };
  return Promise.all(begun.map(ended));
}";

/// Runs two sessions at the same time, aborts the first one, and yields the error of the second one.
const ONE_ABORTED: &str = "async (create, sessions) => {
  const [aborted, beside] = await Promise.all(sessions.map(async ([options, reference]) => {
    const collector = await create(options);
    await collector.start(reference);
    return collector;
  }));
  const error = (error) => `${error?.name}: ${error?.message ?? error}`;
  const end = Promise.resolve(beside.ready()).then(() => beside.verify()).then(() => null, error);
  const other = Promise.resolve(aborted.verify()).then(() => null, error);
  await aborted.abort?.();
  return [await other, await end];
}";

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
        }))
        .takes(TAKES);
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
    let Some(ends) = page.sessions(AT_ONCE, &calls).await else {
        context.found.not_run = Some("the page cannot run several sessions at once".into());
        return;
    };
    for (end, (_, name)) in ends.iter().zip(sessions) {
        let actual = end.as_ref().map(PageValue::text);
        let check = Check::page(PageEffect::SessionAtOnce, actual, end.is_none());
        context.check(check.which(&format!("number {name}")).at(CaseLevel::Should));
    }
    let accepted = |at: usize| ends.get(at).is_some_and(Option::is_none);
    let [one, two, three] =
        [0, 1, 2].map(|at| Session { reference: calls[at].1.clone(), is_accepted: accepted(at) });
    own_references(context, &first, &[one, three]).await;
    own_references(context, &second, &[two]).await;
    beside_aborted(context, &second, &page).await;
}

/// An abort of one collector ends no other one. A collector may refuse a session beside others in other ways.
async fn beside_aborted(context: &mut CollectorCaseContext, edge: &CollectorEdge, page: &CollectorPage) {
    let names = ["aborted", "beside"];
    let calls = names.map(|name| (context.quick_options(&edge.url()), context.reference(name)));
    let Some(ends) = page.sessions(ONE_ABORTED, &calls).await else { return };
    let end = ends.into_iter().next_back().flatten();
    let is_aborted = end.as_ref().is_some_and(|end| end.split(':').next() == Some("AbortError"));
    let check = Check::page(PageEffect::SessionAtOnce, end.as_ref().map(PageValue::text), !is_aborted);
    context.check(check.which("beside one that is aborted").advise(Advice::CollectorsMixed));
}

/// A session beside others.
struct Session {
    reference: String,
    is_accepted: bool,
}

/// The edge got the collections of these sessions only, and of each that was accepted.
async fn own_references(context: &mut CollectorCaseContext, edge: &CollectorEdge, own: &[Session]) {
    let bodies: Vec<_> = edge.posts().into_iter().filter_map(|post| post.body).collect();
    let least = own.iter().filter(|session| session.is_accepted).count();
    if !context.opens_collections() {
        let count = Count::new(Counted::Collections, own.len(), bodies.len());
        let ok = (least..=own.len()).contains(&bodies.len());
        context.check(Check::judged(count, ok).which("at the edge").advise(Advice::CollectorsMixed));
        return;
    }
    let Some(arrived) = references(context, edge, &bodies).await else { return };
    let is_own = |reference: &String| own.iter().any(|session| session.reference == *reference);
    let has_arrived = |session: &Session| !session.is_accepted || arrived.contains(&session.reference);
    let ok = arrived.iter().all(is_own) && own.iter().all(has_arrived);
    let expected: Vec<&str> = own.iter().map(|session| session.reference.as_str()).collect();
    let check = Check::page_is(PageEffect::OwnEdge, expected.join(", "), PageValue::texts(arrived), ok);
    context.check(check.advise(Advice::CollectorsMixed));
}

/// References in the collections that open. None: the program that opens them failed.
async fn references(
    context: &mut CollectorCaseContext,
    edge: &CollectorEdge,
    bodies: &[bytes::Bytes],
) -> Option<Vec<String>> {
    let mut references = Vec::new();
    for body in bodies {
        references.extend(context.open(edge, body).await?.ok().map(|opened| opened.session_ref));
    }
    Some(references)
}

async fn verified_at_once(context: &mut CollectorCaseContext) {
    let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
    let options = Value::Object(context.options(&edge.url()));
    let create = CollectorCall::Create { options, signal: false };
    let start = CollectorCall::Start { session_ref: Some(context.reference("verified-at-once")) };
    let began = page.play([create, start]).await;
    context.check(resolves(&began));
    let first = page.play([CollectorCall::VerifyTwice]).await;
    let second = page.play([CollectorCall::SecondVerify]).await;
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
    if context.opens_collections() {
        let Some(arrived) = references(context, edge, &bodies).await else { return false };
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
            let mut closed = Vec::new();
            // The second page is in a context of its own.
            let new = PageSetup { before: vec![String::new()], ..PageSetup::at(PageOrigin::Https) };
            for (setup, count) in [(PageSetup::at(PageOrigin::Https), IN_TURN), (new, ELSEWHERE)] {
                let Some(page) = context.page_with(setup).await else { return };
                if !in_turn(context, &edge, &page, count).await {
                    return;
                }
                closed.push(unanswered(context, &edge, &page).await);
                at_one_edge(context, &edge, &page).await;
            }
            judge_afresh(context, &edge, &closed);
        }))
        .takes(TAKES);
}

/// A session whose collection gets no answer, then another one: a key that waits for the answer is used twice. Returns which
/// POSTs of the edge got no answer.
async fn unanswered(
    context: &mut CollectorCaseContext,
    edge: &CollectorEdge,
    page: &CollectorPage,
) -> Range<usize> {
    let first = edge.posts().len();
    edge.set_post(PostReaction::Close);
    page.session(context.quick_options(&edge.url()), &context.reference("unanswered")).await;
    let end = edge.posts().len();
    edge.set_post(PostReaction::Relay);
    page.session(context.quick_options(&edge.url()), &context.reference("answered-again")).await;
    first..end
}

/// Sessions at the same time, which seal before one of them has its answer.
async fn at_one_edge(context: &mut CollectorCaseContext, edge: &CollectorEdge, page: &CollectorPage) {
    if !context.target.is_independent {
        return;
    }
    let names = ["beside-one", "beside-number-two", "beside-the-third"];
    let calls = names.map(|name| (context.quick_options(&edge.url()), context.reference(name)));
    page.sessions(AT_ONCE, &calls).await;
}

/// `closed`: the POSTs without an answer. A browser may send such a request again, with the same body.
fn judge_afresh(context: &mut CollectorCaseContext, edge: &Arc<CollectorEdge>, closed: &[Range<usize>]) {
    let posts = edge.posts();
    let is_again = |at: usize| {
        let is_closed = closed.iter().any(|closed| closed.contains(&at) && at > closed.start);
        is_closed && posts[at].body == posts[at - 1].body
    };
    let bodies = posts.iter().enumerate().filter(|(at, _)| !is_again(*at));
    let bodies: Vec<_> = bodies.filter_map(|(_, post)| post.body.clone()).collect();
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
