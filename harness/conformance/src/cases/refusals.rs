use bytes::Bytes;
use edgeproof_fixtures::spec::{Row, Stimulus};
use edgeproof_reports::CaseLevel as Level;

use super::conversation::{Conversation, collection};
use super::credentials::licenses;
use super::{CaseContext, Catalog, summary};
use crate::judge::Check;
use edgeproof_mock::{Action, Script};

/// The service refuses: its status and its reason come through, for the row's reason and no other (7.2, 7.3).
pub(super) fn add(cases: &mut Catalog<'_>) {
    for row in cases.reasons() {
        let (Some(status), Some(code)) = (row.status(), row.code()) else { continue };
        let conversation = Conversation::post(cases.refuse(status, code), cases.refused(status, code));
        let id = row.id.replacen("relay.", "refusal.", 1);
        let title = format!("the service refuses with {status} {code}");
        cases
            .conversation(&row.id, &id, &title, conversation)
            .also("edge.refused")
            .stimulus(Stimulus::Scripted);
    }
    unlisted(cases);
    content_type(cases);
    unplain(cases);
    between(cases);
    redirects(cases);
    cut(cases);
}

/// Statuses and reasons that the tables don't list pass through like those that they do.
fn unlisted(cases: &mut Catalog<'_>) {
    for status in [402, 418, 422, 429, 500, 503, 599] {
        let reason = "edgeproof_unlisted";
        let conversation = Conversation::post(cases.refuse(status, reason), cases.refused(status, reason));
        let title = format!("a refusal with {status}, which the interface does not list, comes through");
        cases
            .conversation("edge.refused", &format!("refusal.unlisted.{status}"), &title, conversation)
            .also("statement.error-bodies-json")
            .stimulus(Stimulus::ServiceRefuses);
    }
    let reason = "edgeproof_never_seen_before";
    let conversation = Conversation::post(cases.refuse(403, reason), cases.refused(403, reason));
    cases
        .conversation(
            "edge.refused",
            "refusal.unlisted.reason",
            "a plain reason that the interface does not list comes through",
            conversation,
        )
        .also("statement.status-and-reason-passed")
        .stimulus(Stimulus::Scripted);
    for row in cases.reasons() {
        let (Some(status), Some(reason)) = (row.status(), row.code()) else { continue };
        let shared = |other: &&Row| other.code() == row.code() && other.id != row.id;
        let Some(other) = cases.reasons().into_iter().find(shared) else { continue };
        let conversation = Conversation::post(cases.refuse(status, reason), cases.refused(status, reason));
        let title = format!("{reason} comes through with {status}, which tells it from {}", other.id);
        cases.conversation(
            "statement.401-or-400",
            &row.id.replacen("relay.", "refusal.same-reason.", 1),
            &title,
            conversation,
        );
    }
}

/// What holds for every refusal is looked at for every one: an edge may word one of them elsewhere than the others.
fn content_type(cases: &mut Catalog<'_>) {
    let refusals = each(cases).into_iter();
    let refusals = refusals.map(|(name, refusal)| (name, refusal.only_typed(Level::Should))).collect();
    cases.each(
        "statement.json-content-type",
        "refusal.content-type",
        "the answer to a refused collection says that it is JSON, whatever the reason",
        refusals,
    );
}

/// A refusal for every reason of the tables, and one without a reason; each with a name.
pub(super) fn each(cases: &Catalog<'_>) -> Vec<(String, Conversation)> {
    let mut refusals = Vec::new();
    for row in cases.reasons() {
        let (Some(status), Some(code)) = (row.status(), row.code()) else { continue };
        let refusal = Conversation::post(cases.refuse(status, code), cases.refused(status, code));
        refusals.push((format!("{status} {code}"), refusal));
    }
    let unplain = Script::one(answer(403, "text/html", Bytes::from_static(b"<html></html>")));
    let refusal = Conversation::post(unplain, cases.answer("edge.refused.unknown", Some((403, ""))));
    refusals.push(("a refusal without a reason".into(), refusal));
    refusals
}

/// Replies without a plain reason code: the reason is `unknown`.
fn unplain(cases: &mut Catalog<'_>) {
    for (stimulus, id, title, kind, body) in replies() {
        let script = Script::one(answer(403, kind, body));
        let conversation = Conversation::post(script, cases.answer("edge.refused.unknown", Some((403, ""))));
        cases
            .conversation(
                "edge.refused.unknown",
                &format!("refusal.unknown.{id}"),
                &format!("the service refuses and its reply {title}"),
                conversation,
            )
            .also("statement.error-bodies-json")
            .stimulus(stimulus);
    }
}

fn replies() -> Vec<(Stimulus, &'static str, &'static str, &'static str, Bytes)> {
    const JSON: &str = "application/json";
    let both = |value: &str| Bytes::from(format!(r#"{{"error":{value},"reason":{value}}}"#));
    vec![
        (Stimulus::ReplyEmpty, "empty", "is empty", JSON, Bytes::new()),
        (Stimulus::ReplyNotJson, "not-json", "is not JSON", JSON, Bytes::from_static(b"forbidden")),
        (
            Stimulus::ReplyHtml,
            "html",
            "is a web page",
            "text/html",
            Bytes::from_static(b"<html><body><h1>403 Forbidden</h1></body></html>"),
        ),
        (
            Stimulus::ReplyArray,
            "array",
            "is an array",
            JSON,
            Bytes::from_static(br#"["edgeproof_in_array"]"#),
        ),
        (Stimulus::ReplyNumber, "number", "has a number as its reason", JSON, both("17")),
        (Stimulus::ReplyNull, "null", "has null as its reason", JSON, both("null")),
        (
            Stimulus::ReplyObject,
            "object",
            "has an object as its reason",
            JSON,
            both(r#"{"code":"edgeproof_in_object"}"#),
        ),
        (
            Stimulus::ReplySpaces,
            "spaces",
            "has a sentence as its reason",
            JSON,
            both(r#""not allowed here""#),
        ),
        (
            Stimulus::ReplyControl,
            "control",
            "has control characters in its reason",
            JSON,
            both(r#""bad\u001b[31m\r\nX-Injected: 1""#),
        ),
        (
            Stimulus::ReplyInvalidUtf8,
            "invalid-utf8",
            "is not UTF-8",
            JSON,
            Bytes::from_static(b"{\"error\":\"bad\xff\xfe\",\"reason\":\"bad\xff\xfe\"}"),
        ),
        (
            Stimulus::ReplyHuge,
            "huge",
            "has a reason of 10 KiB",
            JSON,
            both(&format!("\"{}\"", "x".repeat(10 * 1024))),
        ),
    ]
}

/// What is neither clearly plain nor clearly not.
fn between(cases: &mut Catalog<'_>) {
    for (id, reason) in [
        ("capitals", "Not_Allowed"),
        ("dots", "not.allowed"),
        ("hyphens", "not-allowed"),
        ("suffix", "edgeproof_code:suffix-1"),
    ] {
        let script = cases.refuse(403, reason);
        let point = format!("refusal.between.{id}");
        let title = format!("the service refuses with the reason {reason}");
        cases.steps("statement.reason-in-between", &point.clone(), &title, move |context| {
            let (script, point) = (script.clone(), point.clone());
            Box::pin(async move {
                context.script(script);
                let sent = context.send(&collection()).await;
                let saw = summary::answer(context, &sent.reply);
                context.observe(&point, saw);
            })
        });
    }
}

/// A redirect leads nowhere: what the edge holds is for `SERVICE_URL` alone.
fn redirects(cases: &mut Catalog<'_>) {
    for status in [301, 302, 303, 307, 308] {
        let id = format!("refusal.redirect.{status}");
        let title =
            format!("a {status} from the service is not followed, and the license stays where it belongs");
        let case = cases.steps("statement.license-not-redirected", &id.clone(), &title, move |context| {
            let id = id.clone();
            Box::pin(async move { redirect(context, status, &id).await })
        });
        case.also("statement.redirect-answer");
    }
}

async fn redirect(context: &mut CaseContext, status: u16, id: &str) {
    let Some(elsewhere) = context.edge.elsewhere.clone() else {
        context.found.not_run = Some("no second service to redirect to".into());
        return;
    };
    let path = format!("/elsewhere/{}", context.marker);
    let location = ("location".to_owned(), format!("{}{path}", elsewhere.url()));
    context.script(Script::one(Action::Answer { status, headers: vec![location], body: Bytes::new() }));
    let sent = context.send(&collection()).await;
    let followed: Vec<_> =
        elsewhere.journal().into_iter().filter(|arrival| arrival.request.target.contains(&path)).collect();
    let actual = match followed.first() {
        None => "nothing".to_owned(),
        Some(arrival) if licenses(&followed).is_empty() => format!("a {} request", arrival.request.method),
        Some(arrival) => format!("a {} request with the license in it", arrival.request.method),
    };
    let check = Check::new("requests to the redirect's location", "nothing", actual, followed.is_empty());
    context.check(check.hint("switch following of redirects off in the HTTP client that calls SERVICE_URL"));
    let saw = summary::answer(context, &sent.reply);
    context.observe(id, saw);
}

/// A refusal whose body is cut off.
fn cut(cases: &mut Catalog<'_>) {
    let body = Bytes::from_static(br#"{"error":"edgeproof_cut","reason":"edgeproof_cut"}"#);
    let script = Script::one(Action::CutBody { status: 403, body, after: 12 });
    cases.steps(
        "statement.refusal-cut",
        "refusal.cut-body",
        "the service refuses and its reply is cut off",
        move |context| {
            let script = script.clone();
            Box::pin(async move {
                context.script(script);
                let sent = context.send(&collection()).await;
                let saw = summary::answer(context, &sent.reply);
                context.observe("refusal.cut-body", saw);
            })
        },
    );
}

fn answer(status: u16, kind: &str, body: Bytes) -> Action {
    Action::Answer { status, headers: vec![("content-type".into(), kind.into())], body }
}
