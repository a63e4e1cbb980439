use edgeproof_browser::CollectorCall;
use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{PageEffect, PageValue};
use http::StatusCode;
use serde_json::Value;

use super::page_watch::{self, PageChanges};
use crate::cases::{CaseList, Collector, CollectorCaseContext, CollectorPage, PageSetup};
use crate::collector::{CollectorEdge, PageForm, PageOrigin, PostReaction};
use crate::judge::{Check, resolves};

const ROW: &str = "statement.page-unchanged";

/// What a session changes in its page (1.6).
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    for (id, title, end) in [
        ("accepted", "an accepted session", End::Accepted),
        ("refused", "a refused session", End::Refused),
        ("aborted", "an aborted session", End::Aborted),
        ("blocked", "a session with blocked measurements", End::Blocked),
    ] {
        cases
            .case(ROW, &format!("page.unchanged.{id}"), &format!("{title} leaves the page as it was"))
            .steps(move |context| Box::pin(unchanged(context, end)));
    }
    options(cases);
    observed(cases);
}

/// Runs a session with options that the page freezes, or compares afterwards.
const KEPT: &str = "async (create, [[options, reference]]) => {
  const before = JSON.stringify(options);
  try {
    const collector = await create(FREEZES ? Object.freeze(options) : options);
    await collector.start(reference);
    await collector.ready();
    await collector.verify();
  } catch (error) {
    return [`${error?.name}: ${error?.message ?? error}`];
  }
  const after = JSON.stringify(options);
  return [before === after ? null : `the options are ${after}`];
}";

/// The options belong to the page.
fn options(cases: &mut CaseList<'_, Collector>) {
    cases.case(ROW, "page.unchanged.options", "the collector takes frozen options, and changes none").steps(
        steps!(async |context| {
            for (freezes, what) in [(true, "frozen ones"), (false, "ordinary ones")] {
                let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
                let session = (context.quick_options(&edge.url()), context.reference("options"));
                let function = KEPT.replace("FREEZES", &freezes.to_string());
                let Some(ends) = page.sessions(&function, &[session]).await else {
                    context.found.not_run = Some("the page cannot run the session".into());
                    return;
                };
                let actual = ends.into_iter().flatten().next().map(PageValue::text);
                let ok = actual.is_none();
                let check = Check::page(PageEffect::OptionsKept, actual, ok).which(&format!("with {what}"));
                context.check(check.advise(Advice::PageChanged));
            }
        }),
    );
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Accepted,
    Refused,
    Aborted,
    Blocked,
}

async fn unchanged(context: &mut CollectorCaseContext, end: End) {
    let mut setup = context.edge_setup();
    if end == End::Refused {
        let body = r#"{"error":"service_rejected","reason":"revoked","status":401}"#;
        setup = setup.post(PostReaction::json(StatusCode::UNAUTHORIZED, body));
    }
    let Some(edge) = context.edge(setup).await else { return };
    let mut page = PageSetup { before: vec![page_watch::script()], ..PageSetup::at(PageOrigin::Https) };
    if end == End::Blocked {
        page.before.push(super::page_scripts::scoped(BLOCKED));
    }
    let Some(page) = context.page_with(page).await else { return };
    if end == End::Aborted {
        aborted(context, &edge, &page).await;
    } else {
        let session = page.session(context.options(&edge.url()), &context.reference("unchanged")).await;
        if end != End::Refused {
            context.check(resolves(&session));
        }
    }
    if let Some(changes) = changes(context, &page).await {
        page_watch::check_unchanged(context, &changes, "after the session");
    }
}

/// Interfaces that fail, and are no built-ins of the language.
const BLOCKED: &str = "
for (const proto of protos('HTMLCanvasElement', 'OffscreenCanvas')) set(proto, 'getContext', fail);
set(globalThis, 'WebSocket', class { constructor() { fail() } });
set(globalThis, 'Worker', class { constructor() { fail() } });
get(Navigator.prototype, 'permissions', () => ({ query: reject }));
get(Navigator.prototype, 'storage', () => ({ estimate: never, persisted: never }));
";

async fn aborted(context: &mut CollectorCaseContext, edge: &CollectorEdge, page: &CollectorPage) {
    let options = Value::Object(context.options(&edge.url()));
    let create = CollectorCall::Create { options, signal: false };
    let start = CollectorCall::Start { session_ref: Some(context.reference("unchanged")) };
    // Nobody waits for this one.
    page.play([create.clone(), start.clone(), CollectorCall::Abort]).await;
    if page.play([create, start]).await.is_returned() {
        let ready = page.begin(CollectorCall::Ready);
        page.call(CollectorCall::Abort).await;
        ready.await;
    }
}

async fn changes(context: &mut CollectorCaseContext, page: &CollectorPage) -> Option<PageChanges> {
    let changes = page_watch::changes(page).await;
    if changes.is_none() {
        context.found.not_run = Some("the page cannot tell what changed".into());
    }
    changes
}

/// What a session adds to a page without a rule about it.
fn observed(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(ROW, "page.observed", "what a session adds to its page")
        .steps(steps!(async |context| {
            let Some(edge) = context.edge(context.edge_setup()).await else { return };
            for form in [PageForm::Usual, PageForm::StrictPolicy] {
                let before = vec![page_watch::script()];
                let setup = PageSetup { form, before, ..PageSetup::at(PageOrigin::Https) };
                let Some(page) = context.page_with(setup).await else { return };
                page.session(context.options(&edge.url()), &context.reference("observed")).await;
                let Some(changes) = changes(context, &page).await else { return };
                if form == PageForm::StrictPolicy {
                    context.observe("collector.page.policy", list(&changes.policy));
                    continue;
                }
                let console = page.record().await.console_count;
                context.observe("collector.page.globals", list(&changes.globals));
                context.observe("collector.page.console", some(console));
                context.observe("collector.page.long-tasks", some(changes.long_tasks));
            }
        }))
        .observes(["globals", "console", "long-tasks", "policy"].map(|name| format!("collector.page.{name}")))
        .level(CaseLevel::Open);
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn some(count: usize) -> &'static str {
    if count == 0 { "none" } else { "some" }
}
