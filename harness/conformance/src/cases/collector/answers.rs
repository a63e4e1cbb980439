use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::spec::{Advice, Row, Stimulus, Table};
use edgeproof_mock::{Action, Script};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Counted, SessionSubject};
use http::StatusCode;

use super::ErrorRow;
use super::posted::NO_POST;
use crate::cases::{CaseList, Collector, CollectorCaseContext, CollectorPage};
use crate::collector::{CollectorEdge, PostReaction};
use crate::judge::{Check, fails_with, resolves_as};

const ROW: &str = "collector.report-failed";
const ONCE: &str = "statement.collection-posted-once";
/// Longest time of a session in a quick mode.
const SESSION: Duration = Duration::from_millis(500);

/// Answers of the edge to the POST (7.1, 7.2, 7.3).
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    refused(cases);
    without_reason(cases);
    by_the_edge(cases);
    unreachable(cases);
    bodies(cases);
    accepted_after(cases);
    observed(cases);
}

/// Each refusal by the service, with the answer that the reference edge makes of it.
fn refused(cases: &mut CaseList<'_, Collector>) {
    for status in cases.refusal_statuses() {
        let reasons: Vec<(String, Script)> = cases
            .relay_rows()
            .into_iter()
            .filter(|(_, of, _)| *of == status)
            .map(|(_, status, reason)| (reason.to_owned(), cases.refuse(status, reason)))
            .collect();
        let error = ErrorRow::of(cases, ROW);
        let takes = SESSION * u32::try_from(reasons.len()).unwrap_or(1);
        cases
            .case(
                ROW,
                &format!("answer.refused.{status}"),
                &format!("verify() rejects with the status {status} of a refusal, whatever the reason"),
            )
            .steps(steps!(
                async |context| {
                    let Some((edge, page)) = opened(context).await else { return };
                    let sessions = reasons.len();
                    for (reason, script) in reasons {
                        let _script = edge.script(script);
                        rejected(context, &page, &edge, &format!("{status} {reason}"), status, &error).await;
                    }
                    // A repetition may come later.
                    edge.posted(sessions + 1, NO_POST).await;
                    let posts = edge.posts().len().max(page.posts().await);
                    context.check(
                        Check::counted(Counted::Collections, sessions, posts)
                            .which("of all sessions")
                            .advise(Advice::RefusedRepeated),
                    );
                },
                with(error, reasons)
            ))
            .stimulus(Stimulus::EdgeRefuses)
            .also(ONCE)
            .takes(takes);
    }
}

/// Other statuses of a service, or of a proxy in front of it.
fn without_reason(cases: &mut CaseList<'_, Collector>) {
    let error = ErrorRow::of(cases, ROW);
    cases
        .case(ROW, "answer.refused.other", "verify() rejects with any other status of a refusal")
        .steps(steps!(
            async |context| {
                let Some((edge, page)) = opened(context).await else { return };
                for status in [402, 404, 418, 422, 429, 451, 500, 501, 503, 504, 599] {
                    let headers = vec![("content-type".to_owned(), "text/html".to_owned())];
                    let body = Bytes::from_static(b"<h1>sorry</h1>");
                    let _script = edge.script(Script::one(Action::Answer { status, headers, body }));
                    let what = format!("{status} of a service");
                    rejected(context, &page, &edge, &what, status, &error).await;
                }
            },
            with(error)
        ))
        .stimulus(Stimulus::EdgeRefuses)
        .also(ONCE);
}

/// Errors of the edge itself, with the bodies of the table.
fn by_the_edge(cases: &mut CaseList<'_, Collector>) {
    let is_error = |row: &&Row| row.status().is_some_and(|status| status >= 400);
    let rows: Vec<(String, u16, Bytes)> = cases
        .spec
        .table(Table::Edge)
        .filter(is_error)
        .filter_map(|row| Some((row.id.clone(), row.status()?, row.body()?.to_string().into())))
        .collect();
    let error = ErrorRow::of(cases, ROW);
    cases
        .case(ROW, "answer.edge-errors", "verify() rejects with the status of an error of the edge itself")
        .steps(steps!(
            async |context| {
                let Some((edge, page)) = opened(context).await else { return };
                for (row, status, body) in rows {
                    let Ok(code) = StatusCode::from_u16(status) else { continue };
                    edge.set_post(PostReaction::json(code, body));
                    rejected(context, &page, &edge, &row, status, &error).await;
                }
            },
            with(error, rows)
        ))
        .stimulus(Stimulus::EdgeRefuses)
        .also(ONCE);
}

/// A real edge without a service.
fn unreachable(cases: &mut CaseList<'_, Collector>) {
    let error = ErrorRow::of(cases, ROW);
    let status = cases.row("edge.502.service-unreachable").status().unwrap_or_default();
    cases
        .case(
            ROW,
            "answer.service-unreachable",
            "verify() rejects with the status of an edge that does not reach its service",
        )
        .steps(steps!(
            async |context| {
                let mut setup = context.edge_setup();
                setup.has_service = false;
                let Some(edge) = context.edge(setup).await else { return };
                let Some(page) = context.page().await else { return };
                rejected(context, &page, &edge, "edge without a service", status, &error).await;
            },
            with(error)
        ))
        .stimulus(Stimulus::EdgeRefuses)
        .also(ONCE);
}

/// The status counts, not the body.
fn bodies(cases: &mut CaseList<'_, Collector>) {
    let error = ErrorRow::of(cases, ROW);
    cases
        .case(ROW, "answer.any-body", "verify() rejects with an error status, whatever the body")
        .steps(steps!(
            async |context| {
                let Some((edge, page)) = opened(context).await else { return };
                let huge = Bytes::from(vec![b' '; 2 * 1024 * 1024]);
                let bodies: [(&str, &'static str, Bytes); 7] = [
                    ("an empty body", "text/plain", Bytes::new()),
                    ("a web page", "text/html", Bytes::from_static(b"<!doctype html><h1>502</h1>")),
                    ("the body of an acceptance", "application/json", Bytes::from_static(br#"{"ok":true}"#)),
                    ("half of a JSON text", "application/json", Bytes::from_static(br#"{"error":"#)),
                    ("JSON that is not an object", "application/json", Bytes::from_static(b"[null]")),
                    ("bytes that are not text", "application/json", Bytes::from_static(b"\xff\xfe\x00")),
                    ("a huge body", "application/json", huge),
                ];
                for (what, content_type, body) in bodies {
                    let status = StatusCode::FORBIDDEN;
                    let headers = Vec::new();
                    edge.set_post(PostReaction::Answer { status, content_type, headers, body });
                    let what = format!("403 with {what}");
                    rejected(context, &page, &edge, &what, status.as_u16(), &error).await;
                }
            },
            with(error)
        ))
        .stimulus(Stimulus::EdgeRefuses)
        .also(ONCE);
}

/// A refused session does not affect the next one.
fn accepted_after(cases: &mut CaseList<'_, Collector>) {
    let Some((_, status, reason)) = cases.relay_rows().into_iter().next() else { return };
    let refuse = cases.refuse(status, reason);
    let error = ErrorRow::of(cases, ROW);
    cases
        .case(
            ROW,
            "answer.accepted-after-refused",
            "verify() resolves for an accepted session after a refused one",
        )
        .steps(steps!(
            async |context| {
                let Some((edge, page)) = opened(context).await else { return };
                {
                    let _script = edge.script(refuse);
                    rejected(context, &page, &edge, "refused session", status, &error).await;
                }
                let options = context.quick_options(&edge.url());
                let session = page.session(options, &context.reference("next")).await;
                context.check(resolves_as(SessionSubject::Next, &session));
            },
            with(error, refuse)
        ))
        .stimulus(Stimulus::EdgeRefuses)
        .also(ONCE);
}

/// Answers that the interface does not list.
fn observed(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(ROW, "answer.observed", "how the collector handles answers that the interface does not list")
        .steps(steps!(async |context| {
            let Some((edge, page)) = opened(context).await else { return };
            let answers: [(&str, u16, &'static str, &'static str); 7] = [
                ("201", 201, "application/json", r#"{"ok":true}"#),
                ("204", 204, "application/json", ""),
                ("200-not-ok", 200, "application/json", r#"{"ok":false}"#),
                ("200-html", 200, "text/html", "<h1>welcome</h1>"),
                ("200-empty", 200, "application/json", ""),
                ("302", 302, "text/plain", ""),
                ("307", 307, "text/plain", ""),
            ];
            for (name, status, content_type, body) in answers {
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
        .level(CaseLevel::Open);
}

type EdgeAndPage = (std::sync::Arc<CollectorEdge>, std::sync::Arc<CollectorPage>);

async fn opened(context: &mut CollectorCaseContext) -> Option<EdgeAndPage> {
    let edge = context.edge(context.edge_setup()).await?;
    let page = context.page().await?;
    Some((edge, page))
}

/// A session is rejected with this status.
async fn rejected(
    context: &mut CollectorCaseContext,
    page: &CollectorPage,
    edge: &CollectorEdge,
    what: &str,
    status: u16,
    error: &ErrorRow,
) {
    let before = edge.posts().len();
    let session = page.session(context.quick_options(&edge.url()), &context.reference("refused")).await;
    let expected = error.filled(context, "<status>", &status.to_string());
    let check = fails_with(SessionSubject::Session, &expected, &session);
    context.check(check.which(&format!("answered {what}")));
    let posts = edge.posts().len() - before;
    context.check(
        Check::counted(Counted::Collections, 1, posts)
            .which(&format!("of the session answered {what}"))
            .advise(Advice::RefusedRepeated),
    );
}
