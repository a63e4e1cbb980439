use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::spec::{Advice, Row, Stimulus, Table};
use edgeproof_mock::{Action, Script};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Counted, SessionSubject};
use http::StatusCode;

use super::posted::NO_POST;
use crate::cases::{Case, CaseList, Collector, CollectorCaseContext, CollectorPage};
use crate::collector::{CollectorEdge, PostReaction};
use crate::judge::{Check, fails_with, resolves_as};

const ROW: &str = "collector.report-failed";
const ONCE: &str = "statement.collection-posted-once";
/// Longest time of a session in a quick mode.
const SESSION: Duration = Duration::from_millis(500);

/// An answer to a session that is not accepted: its name, and its status.
type Rejection = (String, u16, Answered);

/// What answers.
#[derive(Clone)]
enum Answered {
    /// The service, through a correct edge.
    ByService(Script),
    /// The edge itself.
    ByEdge(PostReaction),
}

/// Answers of the edge to the POST (7.1, 7.2, 7.3).
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    for status in cases.refusal_statuses() {
        let id = format!("answer.refused.{status}");
        let title = format!("verify() rejects with the status {status} of a refusal, whatever the reason");
        let refusals = refusals(cases, status);
        let takes = SESSION * u32::try_from(refusals.len()).unwrap_or(1);
        rejected(cases, &id, &title, refusals, true).takes(takes);
    }
    let title = "verify() rejects with any other status of a refusal";
    rejected(cases, "answer.refused.other", title, other_statuses(), false);
    let title = "verify() rejects with the status of an error of the edge itself";
    let own = own_errors(cases);
    rejected(cases, "answer.edge-errors", title, own, false);
    unreachable(cases);
    let title = "verify() rejects with an error status, whatever the body";
    rejected(cases, "answer.any-body", title, bodies(), false);
    accepted_after(cases);
    observed(cases);
}

/// Adds a case with a session for each answer. `waits`: it waits for repetitions at the end.
fn rejected<'c>(
    cases: &'c mut CaseList<'_, Collector>,
    id: &str,
    title: &str,
    answers: Vec<Rejection>,
    waits: bool,
) -> &'c mut Case<Collector> {
    cases
        .case(ROW, id, title)
        .steps(steps!(with(answers), async |context| {
            let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
            for answer in &answers {
                reject(context, &page, &edge, answer).await;
            }
            if waits {
                posted_once_each(context, &page, &edge, answers.len()).await;
            }
        }))
        .stimulus(Stimulus::EdgeRefuses)
        .also(ONCE)
}

/// Each refusal by the service, with the answer that the reference edge makes of it.
fn refusals(cases: &CaseList<'_, Collector>, status: u16) -> Vec<Rejection> {
    let rows = cases.relay_rows().into_iter().filter(|(_, of, _)| *of == status);
    rows.map(|(_, status, reason)| {
        (format!("{status} {reason}"), status, Answered::ByService(cases.refuse(status, reason)))
    })
    .collect()
}

/// Other statuses of a service, or of a proxy in front of it.
fn other_statuses() -> Vec<Rejection> {
    let answer = |status| {
        let headers = vec![("content-type".to_owned(), "text/html".to_owned())];
        let body = Bytes::from_static(b"<h1>sorry</h1>");
        let script = Script::one(Action::Answer { status, headers, body });
        (format!("{status} of a service"), status, Answered::ByService(script))
    };
    [402, 404, 418, 422, 429, 451, 500, 501, 503, 504, 599].map(answer).into()
}

/// Errors of the edge itself, with the bodies of the table.
fn own_errors(cases: &CaseList<'_, Collector>) -> Vec<Rejection> {
    let error = |row: &Row| {
        let status = row.status().filter(|status| *status >= 400)?;
        let body = Bytes::from(row.body()?.to_string());
        let answer = PostReaction::json(StatusCode::from_u16(status).ok()?, body);
        Some((row.id.clone(), status, Answered::ByEdge(answer)))
    };
    cases.spec.table(Table::Edge).filter_map(error).collect()
}

/// The status counts, not the body.
fn bodies() -> Vec<Rejection> {
    let bodies: [(&str, &'static str, Bytes); 7] = [
        ("an empty body", "text/plain", Bytes::new()),
        ("a web page", "text/html", Bytes::from_static(b"<!doctype html><h1>502</h1>")),
        ("the body of an acceptance", "application/json", Bytes::from_static(br#"{"ok":true}"#)),
        ("half of a JSON text", "application/json", Bytes::from_static(br#"{"error":"#)),
        ("JSON that is not an object", "application/json", Bytes::from_static(b"[null]")),
        ("bytes that are not text", "application/json", Bytes::from_static(b"\xff\xfe\x00")),
        ("a huge body", "application/json", vec![b' '; 2 * 1024 * 1024].into()),
    ];
    let status = StatusCode::FORBIDDEN;
    let answer = |(what, content_type, body)| {
        let answer = PostReaction::Answer { status, content_type, headers: Vec::new(), body };
        (format!("403 with {what}"), status.as_u16(), Answered::ByEdge(answer))
    };
    bodies.map(answer).into()
}

/// A real edge without a service.
fn unreachable(cases: &mut CaseList<'_, Collector>) {
    let status = cases.row("edge.502.service-unreachable").status().unwrap_or_default();
    cases
        .case(
            ROW,
            "answer.service-unreachable",
            "verify() rejects with the status of an edge that does not reach its service",
        )
        .steps(steps!(async |context| {
            let mut setup = context.edge_setup();
            setup.has_service = false;
            let Some((edge, page)) = context.opened(setup).await else { return };
            let answer = ("edge without a service".to_owned(), status, Answered::ByEdge(PostReaction::Relay));
            reject(context, &page, &edge, &answer).await;
        }))
        .stimulus(Stimulus::EdgeRefuses)
        .also(ONCE);
}

/// A refused session does not affect the next one.
fn accepted_after(cases: &mut CaseList<'_, Collector>) {
    let Some((_, status, reason)) = cases.relay_rows().into_iter().next() else { return };
    let refusal = ("refused session".to_owned(), status, Answered::ByService(cases.refuse(status, reason)));
    cases
        .case(
            ROW,
            "answer.accepted-after-refused",
            "verify() resolves for an accepted session after a refused one",
        )
        .steps(steps!(with(refusal), async |context| {
            let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
            reject(context, &page, &edge, &refusal).await;
            let options = context.quick_options(&edge.url());
            let session = page.session(options, &context.reference("next")).await;
            context.check(resolves_as(SessionSubject::Next, &session));
        }))
        .stimulus(Stimulus::EdgeRefuses)
        .also(ONCE);
}

/// Answers that the interface does not list: name, status, content type and body.
const UNLISTED: [(&str, u16, &str, &str); 7] = [
    ("201", 201, "application/json", r#"{"ok":true}"#),
    ("204", 204, "application/json", ""),
    ("200-not-ok", 200, "application/json", r#"{"ok":false}"#),
    ("200-html", 200, "text/html", "<h1>welcome</h1>"),
    ("200-empty", 200, "application/json", ""),
    ("302", 302, "text/plain", ""),
    ("307", 307, "text/plain", ""),
];

/// Observes the answers that the interface does not list.
fn observed(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(ROW, "answer.observed", "how the collector handles answers that the interface does not list")
        .steps(steps!(async |context| {
            let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
            for (name, status, content_type, body) in UNLISTED {
                let Ok(code) = StatusCode::from_u16(status) else { continue };
                let headers = match status {
                    300.. => vec![("location", format!("{}/elsewhere", edge.url()))],
                    _ => Vec::new(),
                };
                let body = Bytes::from_static(body.as_bytes());
                edge.set_post(PostReaction::Answer { status: code, content_type, headers, body });
                let options = context.quick_options(&edge.url());
                let session = page.session(options, &context.reference("odd")).await;
                context.observe(&format!("collector.answer.{name}"), session.summary());
            }
        }))
        .observes(UNLISTED.map(|(name, ..)| format!("collector.answer.{name}")))
        .level(CaseLevel::Open);
}

/// A session with this answer is rejected with its status.
async fn reject(
    context: &mut CollectorCaseContext,
    page: &CollectorPage,
    edge: &CollectorEdge,
    (what, status, answer): &Rejection,
) {
    let _script = match answer {
        Answered::ByService(script) => Some(edge.script(script.clone())),
        Answered::ByEdge(reaction) => {
            edge.set_post(reaction.clone());
            None
        }
    };
    let before = edge.posts().len();
    let session = page.session(context.quick_options(&edge.url()), &context.reference("refused")).await;
    let expected = context.error(ROW, &status.to_string());
    let check = fails_with(SessionSubject::Session, &expected, &session);
    context.check(check.which(&format!("answered {what}")));
    let posts = edge.posts().len() - before;
    context.check(
        Check::counted(Counted::Collections, 1, posts)
            .which(&format!("of the session answered {what}"))
            .advise(Advice::RefusedRepeated),
    );
}

/// No session posts again, not even later.
async fn posted_once_each(
    context: &mut CollectorCaseContext,
    page: &CollectorPage,
    edge: &CollectorEdge,
    sessions: usize,
) {
    edge.posted(sessions + 1, NO_POST).await;
    let posts = edge.posts().len().max(page.posts().await);
    context.check(
        Check::counted(Counted::Collections, sessions, posts)
            .which("of all sessions")
            .advise(Advice::RefusedRepeated),
    );
}
