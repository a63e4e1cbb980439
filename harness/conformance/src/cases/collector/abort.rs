use std::sync::Arc;
use std::time::Duration;

use edgeproof_browser::{CallOutcome, CollectorCall};
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_mock::ArrivalAnswer;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Counted, PageEffect, PageValue, SessionSubject};
use serde_json::Value;

use crate::cases::{CaseList, Collector, CollectorCaseContext, CollectorPage, PENDING, SealUse};
use crate::collector::{CollectorEdge, PostReaction, WebSocketReaction};
use crate::judge::{self, Check, SessionResult, fails_with, resolves};

const ROW: &str = "collector.abort-error";
const WITHOUT_VERDICT: &str = "statement.abort-without-verdict";

/// Aborts by the page (7.1).
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    for (id, title, when) in [
        ("measuring", "an abort during the measurements", AbortTime::Measuring),
        ("verifying", "an abort while verify() waits for the measurements", AbortTime::Verifying),
        ("before-verify", "an abort between ready() and verify(), or before both,", AbortTime::BeforeVerify),
        ("posting", "an abort while the edge holds the collection", AbortTime::Posting),
    ] {
        cases
            .case(
                ROW,
                &format!("abort.{id}"),
                &format!("{title} ends the session with AbortError and without a verdict"),
            )
            .steps(move |context| Box::pin(aborted(context, when)))
            .stimulus(Stimulus::CallerAborts)
            .also(WITHOUT_VERDICT);
    }
    afterwards(cases);
    observed(cases);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AbortTime {
    Measuring,
    Verifying,
    BeforeVerify,
    Posting,
}

/// Longest wait for a collection that nobody should send any more: longer than usual measurements.
const NO_POST: Duration = Duration::from_millis(1200);

/// Attempts to abort before the collector posts: a busy machine hands on the abort late.
const ATTEMPTS: usize = 3;

async fn aborted(context: &mut CollectorCaseContext, when: AbortTime) {
    for attempt in 1..=ATTEMPTS {
        let reference = context.reference(&format!("aborted-{attempt}"));
        let Some((edge, page, session)) = interrupted(context, when, &reference).await else { return };
        let Some(session) = session else { continue };
        judge_aborted(context, &edge, &page, session, when).await;
        if when == AbortTime::BeforeVerify {
            before_ready(context, &edge, &page).await;
        }
        return without_verdict(context, &edge, &reference).await;
    }
    context.found.not_applicable = Some("the collector posts before an abort can reach it".into());
}

/// An abort while the page waits for nothing: no promise that nobody handles may reject by it, which a monitor sees.
async fn before_ready(context: &mut CollectorCaseContext, edge: &CollectorEdge, page: &CollectorPage) {
    let options = Value::Object(context.options(&edge.url()));
    let create = CollectorCall::Create { options, signal: false };
    let start = CollectorCall::Start { session_ref: Some(context.reference("before-ready")) };
    if !page.play([create, start]).await.is_returned() {
        return;
    }
    if abort(context, page).await == Some(0) {
        let session = page.play([CollectorCall::Verify]).await;
        context.check(fails_with(SessionSubject::Aborted, &context.error(ROW, ""), &session));
    }
}

/// Judges the end of an aborted session and what the collector does afterwards.
async fn judge_aborted(
    context: &mut CollectorCaseContext,
    edge: &CollectorEdge,
    page: &CollectorPage,
    session: SessionResult,
    when: AbortTime,
) {
    let expected = context.error(ROW, "");
    context.check(fails_with(SessionSubject::Aborted, &expected, &session));
    if when == AbortTime::Posting
        && let Some(given_up) = edge.given_up(context.timeout).await
    {
        // An edge that relays it late gets a verdict for it.
        context.check(Check::counted(Counted::KeptCollections, 0, usize::from(!given_up)));
    }
    // A collector that sends again would be accepted now.
    edge.set_post(PostReaction::Relay);
    // An aborted session stays aborted.
    let session = page.play([CollectorCall::Verify]).await;
    context.check(fails_with(SessionSubject::AfterAbort, &expected, &session).at(CaseLevel::Should));
    let before = usize::from(when == AbortTime::Posting);
    let again = edge.posted(before + 1, NO_POST).await;
    context.check(Check::counted(Counted::LateCollections, 0, usize::from(again)));
}

/// Edge, page and last call of a session with an abort in it. Without a call: the collector posted before the abort reached
/// the page.
type Interrupted = (Arc<CollectorEdge>, Arc<CollectorPage>, Option<SessionResult>);

/// Plays a session with an abort in it. None: the module has no `abort()`, or the session did not get so far.
async fn interrupted(
    context: &mut CollectorCaseContext,
    when: AbortTime,
    reference: &str,
) -> Option<Interrupted> {
    let post = if when == AbortTime::Posting { PostReaction::Hold } else { PostReaction::Relay };
    let mut setup = context.edge_setup().post(post);
    if when == AbortTime::Verifying {
        // Over a silent WebSocket measurements take longer, so the collection is not under way yet.
        setup = setup.websocket(WebSocketReaction::Send(bytes::Bytes::new()));
    }
    let (edge, page) = context.opened(setup).await?;
    let options = match when {
        AbortTime::Measuring | AbortTime::Verifying => context.options(&edge.url()),
        _ => context.quick_options(&edge.url()),
    };
    let create = CollectorCall::Create { options: Value::Object(options), signal: false };
    let start = CollectorCall::Start { session_ref: Some(reference.to_owned()) };
    let began = page.play([create, start]).await;
    if !began.is_returned() {
        context.check(resolves(&began).which("before the abort"));
        return None;
    }
    let session = match when {
        AbortTime::Measuring => {
            let ready = page.begin(CollectorCall::Ready);
            let posts = abort(context, &page).await?;
            let ready = ready.await;
            // The measurements may be done already.
            let last = if ready.is_returned() { page.play([CollectorCall::Verify]).await } else { ready };
            (posts == 0).then_some(last)
        }
        AbortTime::Verifying => {
            let verify = page.begin(CollectorCall::Verify);
            let posts = abort(context, &page).await?;
            let last = verify.await;
            (posts == 0).then_some(last)
        }
        AbortTime::BeforeVerify => {
            let ready = page.play([CollectorCall::Ready]).await;
            if !ready.is_returned() {
                context.check(resolves(&ready).which("before the abort"));
                return None;
            }
            let posts = abort(context, &page).await?;
            let last = page.play([CollectorCall::Verify]).await;
            (posts == 0).then_some(last)
        }
        AbortTime::Posting => {
            let verify = page.begin(CollectorCall::Verify);
            if !edge.posted(1, context.timeout).await {
                let actual = Some(PageValue::Session(verify.await.value()));
                context.check(Check::page(PageEffect::CollectionHeld, actual, false));
                return None;
            }
            abort(context, &page).await?;
            Some(verify.await)
        }
    };
    Some((edge, page, session))
}

/// Calls `abort()`. Yields the number of collections that the page had begun to post by then. None: the module has no
/// `abort()`, or it fails.
async fn abort(context: &mut CollectorCaseContext, page: &CollectorPage) -> Option<usize> {
    match page.call(CollectorCall::Abort).await {
        CallOutcome::Returned(_) => Some(page.posts_until(context.now()).await),
        CallOutcome::Missing => {
            context.found.not_applicable = Some(
                "the module has no abort(): if the collector can abort, add abort() to the module".into(),
            );
            None
        }
        outcome => {
            let call = SessionResult { call: CollectorCall::Abort.name(), outcome };
            let actual = Some(PageValue::Session(call.value()));
            context.check(Check::page(PageEffect::AbortReturns, actual, false));
            None
        }
    }
}

/// The service accepted no collection, and a backend gets no verdict.
async fn without_verdict(context: &mut CollectorCaseContext, edge: &CollectorEdge, reference: &str) {
    let arrivals = edge.arrivals(Duration::from_secs(1)).await;
    let accepted = |answer: &ArrivalAnswer| answer.status().is_some_and(|status| status < 300);
    let count = arrivals.iter().filter(|arrival| arrival.answer.as_ref().is_some_and(accepted)).count();
    context.check(Check::counted(Counted::AcceptedCollections, 0, count));
    if context.target.seal != SealUse::Opens {
        return;
    }
    match edge.verdict(reference).await {
        Ok(reply) => {
            let actual = Some(judge::page_answer(&reply));
            let is_pending = context.has_status(PENDING, &reply);
            context.check(Check::page(PageEffect::NoVerdict, actual, is_pending));
        }
        Err(why) => context.found.not_run = Some(format!("cannot ask for the verdict: {why}")),
    }
}

/// After the acceptance there is nothing left to abort.
fn afterwards(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(ROW, "abort.afterwards", "abort() after the acceptance returns")
        .steps(steps!(async |context| {
            let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
            let options = context.quick_options(&edge.url());
            let session = page.session(options, &context.reference("done")).await;
            context.check(resolves(&session).which("before the abort"));
            if abort(context, &page).await.is_some() {
                context.check(Check::page(PageEffect::AbortReturns, None, true));
                let session = page.play([CollectorCall::Verify]).await;
                context.observe("collector.abort.verify-afterwards", session.summary());
            }
        }))
        .observes(["collector.abort.verify-afterwards"])
        .level(CaseLevel::Should);
}

/// Aborts the signal of three sessions with a reason of its own: before, during and after them.
const SIGNALS: &str = "(create, sessions) => Promise.all(sessions.map(async ([options, reference], at) => {
  const controller = new AbortController();
  const reason = new RangeError('no longer needed');
  try {
    if (at === 0) controller.abort(reason);
    const collector = await create({ ...options, signal: controller.signal });
    await collector.start(reference);
    const first = collector.verify();
    if (at === 1) controller.abort(reason);
    await first;
    controller.abort(reason);
    await collector.verify();
    return null;
  } catch (error) {
    return `verify() rejected with ${error === reason ? 'the reason' : error?.name}`;
  }
}))";

/// Ways to abort that the interface does not name.
fn observed(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(ROW, "abort.observed", "how the collector handles other ways to abort")
        .steps(steps!(async |context| {
            let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
            let options = Value::Object(context.quick_options(&edge.url()));
            let create = |signal| CollectorCall::Create { options: options.clone(), signal };
            let start = || CollectorCall::Start { session_ref: Some(context.reference("signal")) };
            let ways = [
                ("before-start", vec![create(false), CollectorCall::Abort, start(), CollectorCall::Verify]),
                ("signal", vec![create(true), start(), CollectorCall::AbortSignal, CollectorCall::Verify]),
            ];
            for (name, calls) in ways {
                let session = page.play(calls).await;
                context.observe(&format!("collector.abort.{name}"), session.summary());
            }
            let session = || (context.quick_options(&edge.url()), context.reference("reason"));
            let ends = page.sessions(SIGNALS, &[session(), session(), session()]).await;
            let Some(ends) = ends else { return };
            for (name, end) in ["before", "during", "after"].into_iter().zip(ends) {
                let end = end.unwrap_or_else(|| "verify() returned".into());
                context.observe(&format!("collector.abort.signal-{name}"), end);
            }
        }))
        .observes(
            ["before-start", "signal", "signal-before", "signal-during", "signal-after"]
                .map(|name| format!("collector.abort.{name}")),
        )
        .level(CaseLevel::Open);
}
