use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::difference::{Count, Counted, PageEffect, PageValue};

use super::block::{BLOCKS, Block};
use super::sealed::check_opened;
use crate::cases::{CaseList, Collector, CollectorCaseContext, CollectorPage, SealUse};
use crate::collector::{CollectorEdge, PageOrigin};
use crate::judge::{Check, resolves};

const ROW: &str = "statement.measurement-failure";
/// Longest time of a session with failing measurements.
pub(super) const SESSION: Duration = Duration::from_secs(2);

/// Blocked and failing measurements are no error (1.6).
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    for block in &BLOCKS {
        let case = cases
            .case(
                ROW,
                &format!("blocked.{}", block.id),
                &format!("the collector sends the collection without an error despite {}", block.title),
            )
            .steps(move |context| Box::pin(blocked(context, block)));
        case.takes(SESSION * u32::try_from(block.ways.len()).unwrap_or(1));
        if block.is_websocket {
            case.also("statement.websocket-failure");
        }
    }
    weaker(cases);
}

/// Plays a session for each way in which the browser's interface fails. The first way is in place before the module
/// loads, the others before `create()`.
async fn blocked(context: &mut CollectorCaseContext, block: &'static Block) {
    let Some(edge) = context.edge(context.edge_setup()).await else { return };
    let mut last = None;
    for (name, script) in block.ways {
        let script = wrapped(script);
        let page = match last.take() {
            Some(page) if context.target.is_independent => page,
            _ => {
                let Some(page) = context.page_at(PageOrigin::Https, vec![script.clone()]).await else {
                    return;
                };
                page
            }
        };
        // In a new page it changes nothing more.
        if page.evaluate(&format!("(() => {{ {script} }})()")).await.is_none() {
            context.found.not_run = Some(format!("cannot prepare the page: {name}"));
            return;
        }
        session_with(context, &page, &edge, name).await;
        collected(context, &page).await;
        last = Some(page);
    }
}

/// A script that changes what it can.
fn wrapped(script: &str) -> String {
    format!("{}\n{script}", super::block::HELPERS)
}

/// A session in the default mode is accepted, and its collection arrives. `what`: the failing measurement.
pub(super) async fn session_with(
    context: &mut CollectorCaseContext,
    page: &CollectorPage,
    edge: &CollectorEdge,
    what: &str,
) {
    let before = edge.posts().len();
    let session = page.session(context.options(&edge.url()), &context.reference("blocked")).await;
    context.check(resolves(&session).which(&format!("with {what}")).advise(Advice::MeasurementFatal));
    let posts = edge.posts().len() - before;
    let count = Count::new(Counted::SomeCollections, 1, posts).of_session(session.value());
    let check = Check::judged(count, posts > 0);
    context.check(check.which(&format!("with {what}")));
}

/// The page saw no uncaught error either: the site's own error reports would contain it.
pub(super) async fn collected(context: &mut CollectorCaseContext, page: &CollectorPage) {
    let record = page.record().await;
    let first = record.uncaught.first().map(PageValue::text);
    let check = Check::page(PageEffect::UncaughtErrors, first, record.uncaught.is_empty());
    context.check(check.advise(Advice::MeasurementUncaught));
}

/// Fewer measurements, lower confidence (1.6).
fn weaker(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(
            "statement.weaker-verdict",
            "blocked.weaker-verdict",
            "a session with blocked measurements gets a verdict of lower confidence",
        )
        .steps(steps!(async |context| {
            if !context.needs_verdict() {
                return;
            }
            let Some(edge) = context.edge(context.edge_setup()).await else { return };
            let Some(free) = context.page().await else { return };
            let all = BLOCKS.iter().filter_map(|block| block.ways.first());
            let script: Vec<String> =
                all.map(|(_, script)| format!("try {{ {script} }} catch {{}}")).collect();
            let script = script.join("\n");
            let Some(blocked) = context.page_at(PageOrigin::Https, vec![wrapped(&script)]).await else {
                return;
            };
            let mut confidences = Vec::new();
            for (page, name) in [(free, "all"), (blocked, "few")] {
                let confidence = confidence(context, &page, &edge, name).await;
                let Some(confidence) = confidence else { return };
                confidences.push(confidence);
            }
            let [all, few] = confidences[..] else { return };
            // The interface shows neither measurements nor how they are scored.
            if all <= 0.0 {
                context.found.not_applicable =
                    Some("the mock service knows none of the measurements in the collection".into());
                return;
            }
            let (expected, actual) = (all.to_string(), PageValue::text(few.to_string()));
            context.check(Check::page_is(PageEffect::Confidence, expected, actual, few < all));
        }));
}

/// Runs a session and reads the confidence of its verdict.
async fn confidence(
    context: &mut CollectorCaseContext,
    page: &Arc<CollectorPage>,
    edge: &CollectorEdge,
    name: &str,
) -> Option<f64> {
    let reference = context.reference(name);
    let session = page.session(context.options(&edge.url()), &reference).await;
    context.check(resolves(&session).which(&format!("with {name} measurements")));
    assert!(context.target.seal != SealUse::Foreign, "such a target has no verdicts");
    let posted = edge.posts().into_iter().next_back().and_then(|post| post.body);
    if let Some(Err(fault)) = posted.map(|body| edge.open(&body)) {
        check_opened(context, Some(&fault.into()));
        return None;
    }
    let verdict = edge.verdict(&reference).await.ok()?.ok();
    let body = verdict.and_then(|answer| serde_json::from_slice::<serde_json::Value>(&answer.body).ok());
    let confidence = body.as_ref().and_then(|body| body.get("confidence")?.as_f64());
    if confidence.is_none() {
        let actual = body.map(|body| PageValue::text(body.to_string()));
        let check = Check::page(PageEffect::HasConfidence, actual, false);
        context.check(check.which(&format!("with {name} measurements")));
    }
    confidence
}
