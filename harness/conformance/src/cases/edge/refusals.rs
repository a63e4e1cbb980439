use bytes::Bytes;
use edgeproof_fixtures::spec::{Advice, Stimulus};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Count, Counted};

use super::credentials::licenses;
use crate::cases::{
    CaseList, Catalog, Conversation, Edge, EdgeCaseContext, EdgeObservation, EdgeRule, collection, summary,
};
use crate::judge::Check;
use edgeproof_mock::{Action, Script};

/// A case for each row of `relay.toml`, with a `Conversation` (`cases/conversation.rs`): the service refuses a collection,
/// and the edge passes on its status and its reason (7.2, 7.3). Then refusals that no row lists.
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    for (row, status, code) in cases.relay_rows() {
        let conversation = cases.refused_post(status, code);
        let id = row.id.replacen("relay.", "refusal.", 1);
        let title = format!("the edge passes on the refusal {status} {code}");
        cases
            .case(&row.id, &id, &title)
            .conversation(conversation)
            .also("edge.refused")
            .stimulus(Stimulus::Scripted);
    }
    unlisted(cases);
    content_type(cases);
    without_reason(cases);
    ambiguous(cases);
    redirects(cases);
    cut(cases);
}

/// The edge passes on statuses and reasons that the tables do not list.
fn unlisted(cases: &mut CaseList<'_, Edge>) {
    for status in [402, 418, 422, 429, 500, 503, 599] {
        let reason = "edgeproof_unlisted";
        let conversation = cases.refused_post(status, reason);
        let title = format!("the edge passes on a refusal with the unlisted status {status}");
        cases
            .case("edge.refused", &format!("refusal.unlisted.{status}"), &title)
            .conversation(conversation)
            .also("statement.error-bodies-json")
            .stimulus(Stimulus::ServiceRefuses);
    }
    let reason = "edgeproof_never_seen_before";
    let conversation = cases.refused_post(403, reason);
    cases
        .case("edge.refused", "refusal.unlisted.reason", "the edge passes on an unlisted plain reason")
        .conversation(conversation)
        .also("statement.status-and-reason-passed")
        .stimulus(Stimulus::Scripted);
    for (row, status, reason) in cases.relay_rows() {
        let rows = cases.relay_rows();
        let Some((_, other, _)) = rows.iter().find(|(other, _, code)| *code == reason && other.id != row.id)
        else {
            continue;
        };
        let conversation = cases.refused_post(status, reason);
        let title =
            format!("the edge passes on {reason} with {status}, where another refusal has it with {other}");
        cases
            .case("statement.401-or-400", &row.id.replacen("relay.", "refusal.same-reason.", 1), &title)
            .conversation(conversation);
    }
}

/// Each refusal is checked, because an edge can build one of them in other code than the rest.
fn content_type(cases: &mut CaseList<'_, Edge>) {
    let refusals = each_refusal(cases).into_iter();
    let refusals =
        refusals.map(|(name, refusal)| (name, refusal.only().content_type(CaseLevel::Should))).collect();
    cases
        .case(
            "statement.json-content-type",
            "refusal.content-type",
            "the answer to a refused collection has the content type JSON, for every reason",
        )
        .exchanges(refusals);
}

/// A named refusal for every reason of the tables, and one without a reason.
pub(super) fn each_refusal(cases: &Catalog<'_>) -> Vec<(String, Conversation)> {
    let mut refusals = Vec::new();
    for (_, status, code) in cases.relay_rows() {
        refusals.push((format!("{status} {code}"), cases.refused_post(status, code)));
    }
    let unplain = Script::one(answer(403, "text/html", Bytes::from_static(b"<html></html>")));
    let refusal = Conversation::post(unplain, cases.answer("edge.refused.unknown", Some((403, ""))));
    refusals.push(("a refusal without a reason".into(), refusal));
    refusals
}

/// Replies without a plain reason code: the edge answers with the reason `unknown`.
fn without_reason(cases: &mut CaseList<'_, Edge>) {
    for (stimulus, id, title, kind, body) in replies() {
        let script = Script::one(answer(403, kind, body));
        let conversation = Conversation::post(script, cases.answer("edge.refused.unknown", Some((403, ""))));
        cases
            .case(
                "edge.refused.unknown",
                &format!("refusal.unknown.{id}"),
                &format!("to a refusal {title}, the edge answers with the reason unknown"),
            )
            .conversation(conversation)
            .also("statement.error-bodies-json")
            .stimulus(stimulus);
    }
    for (stimulus, id, title, body) in doubtful_replies() {
        let script = Script::one(answer(403, "application/json", body));
        let one_line = EdgeRule::OneLine(cases.answer("edge.refused.unknown", Some((403, ""))));
        let exchange = Conversation::request(collection()).script(script).expect(one_line);
        cases
            .case(
                "statement.reason-one-line",
                &format!("refusal.unknown.{id}"),
                &format!("to a refusal {title}, the edge answers with valid JSON and a reason in one line"),
            )
            .conversation(exchange.observe(EdgeObservation::Answer))
            .also("statement.reason-in-between")
            .also("statement.error-bodies-json")
            .stimulus(stimulus);
    }
}

/// A value as `error` and `reason`.
fn both(value: &str) -> Bytes {
    Bytes::from(format!(r#"{{"error":{value},"reason":{value}}}"#))
}

/// Reasons that an edge may pass on or not, in one line in either case.
fn doubtful_replies() -> [(Stimulus, &'static str, &'static str, Bytes); 3] {
    [
        (Stimulus::ReplySpaces, "spaces", "whose reason is a sentence", both(r#""not allowed here""#)),
        (
            Stimulus::ReplyInvalidUtf8,
            "invalid-utf8",
            "that is not UTF-8",
            Bytes::from_static(b"{\"error\":\"bad\xff\xfe\",\"reason\":\"bad\xff\xfe\"}"),
        ),
        (
            Stimulus::ReplyHuge,
            "huge",
            "whose reason has 10 KiB",
            both(&format!("\"{}\"", "x".repeat(10 * 1024))),
        ),
    ]
}

fn replies() -> Vec<(Stimulus, &'static str, &'static str, &'static str, Bytes)> {
    const JSON: &str = "application/json";
    vec![
        (Stimulus::ReplyEmpty, "empty", "without a body", JSON, Bytes::new()),
        (
            Stimulus::ReplyNotJson,
            "not-json",
            "that is not JSON",
            JSON,
            Bytes::from_static(b"forbidden \x00\x01\x1b[31m\x7f"),
        ),
        (
            Stimulus::ReplyHtml,
            "html",
            "that is a web page",
            "text/html",
            // In a log, one of its lines would look like another refusal.
            Bytes::from_static(b"<html>\n<h1>403 Forbidden</h1>\nrefused 401 edgeproof_forged\n</html>\n"),
        ),
        (
            Stimulus::ReplyArray,
            "array",
            "that is an array",
            JSON,
            Bytes::from_static(br#"["edgeproof_in_array"]"#),
        ),
        (Stimulus::ReplyNumber, "number", "whose reason is a number", JSON, both("17")),
        (Stimulus::ReplyNull, "null", "whose reason is null", JSON, both("null")),
        (
            Stimulus::ReplyObject,
            "object",
            "whose reason is an object",
            JSON,
            both(r#"{"code":"edgeproof_in_object"}"#),
        ),
        (
            Stimulus::ReplyControl,
            "control",
            "whose reason contains control characters",
            JSON,
            both(r#""bad\u001b[31m\r\nX-Injected: 1""#),
        ),
    ]
}

/// Reasons that can be read as plain or not.
fn ambiguous(cases: &mut CaseList<'_, Edge>) {
    for (id, reason) in [
        ("capitals", "Not_Allowed"),
        ("dots", "not.allowed"),
        ("hyphens", "not-allowed"),
        ("suffix", "edgeproof_code:suffix-1"),
    ] {
        let script = cases.refuse(403, reason);
        let title = format!("the answer to a refusal with the reason {reason}");
        cases
            .case("statement.reason-in-between", &format!("refusal.between.{id}"), &title)
            .observation(script);
    }
}

/// The edge follows no redirect: its credentials are for `SERVICE_URL` only.
fn redirects(cases: &mut CaseList<'_, Edge>) {
    for status in [300, 301, 302, 303, 304, 307, 308] {
        let title =
            format!("the edge does not follow a {status} from the service, and sends no license there");
        cases
            .case("statement.license-not-redirected", &format!("refusal.redirect.{status}"), &title)
            .steps(move |context| Box::pin(redirect(context, status)))
            .observes_itself()
            .also("statement.redirect-answer");
    }
}

async fn redirect(context: &mut EdgeCaseContext, status: u16) {
    let Some(elsewhere) = context.target.elsewhere.clone() else {
        context.found.not_run = Some("this run has no second mock service as the redirect's target".into());
        return;
    };
    let path = format!("/elsewhere/{}", context.marker);
    let own = context.target.service.clone();
    let of_service = own.as_ref().map(|service| format!("{}{path}", service.url()));
    let services = own.iter().chain([&elsewhere]);
    let marks: Vec<_> = services.map(|service| (service, service.mark())).collect();
    let mut followed = Vec::new();
    let mut observed = None;
    // The interface leaves the answer open. Some HTTP stacks cannot send a 304 with a body.
    context.weakest = CaseLevel::Open;
    for location in [Some(format!("{}{path}", elsewhere.url())), of_service, Some(path.clone())] {
        let Some(location) = location else { continue };
        let headers = vec![("location".to_owned(), location)];
        context.script(Script::one(Action::Answer { status, headers, body: Bytes::new() }));
        let sent = context.send(&collection()).await;
        observed.get_or_insert_with(|| summary::answer(&context.marker, &sent.reply));
        let arrivals = marks.iter().flat_map(|(service, mark)| service.arrivals_since(*mark));
        followed.extend(arrivals.filter(|arrival| arrival.request.target.contains(&path)));
        if !followed.is_empty() {
            break;
        }
    }
    let count = Count::new(Counted::FollowedRedirects, 0, followed.len())
        .part(licenses(&followed).len())
        .first(followed.first().map(|arrival| &arrival.request.method));
    context.check(Check::judged(count, followed.is_empty()).advise(Advice::RedirectFollowed));
    context.observe_case(observed.unwrap_or_default());
}

/// The service's refusal ends early.
fn cut(cases: &mut CaseList<'_, Edge>) {
    let body = Bytes::from_static(br#"{"error":"edgeproof_cut","reason":"edgeproof_cut"}"#);
    let script = Script::one(Action::CutBody { status: 403, body, after: 12 });
    cases
        .case("statement.refusal-cut", "refusal.cut-body", "the answer to a refusal whose body ends early")
        .observation(script);
}

fn answer(status: u16, kind: &str, body: Bytes) -> Action {
    Action::Answer { status, headers: vec![("content-type".into(), kind.into())], body }
}
