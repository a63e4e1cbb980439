use edgeproof_fixtures::spec::Stimulus;
use edgeproof_reports::CaseLevel as Level;

use super::conversation::{Conversation, MARKER, ORIGIN, Relayed, SIGNALS};
use super::{CaseContext, Catalog, summary};
use crate::judge::{self, Check, Expected};
use edgeproof_http::{Answer, Body, Draft, NoAnswer};
use edgeproof_mock::Script;

/// Requests whose body cannot be read (7.2). Whatever is answered, nothing partial is relayed and the edge lives on.
pub(super) fn add(cases: &mut Catalog<'_>) {
    let expected = cases.answer("edge.400.read-failed", None);
    let accept = cases.accept();
    for (stimulus, id, title, draft) in unreadable() {
        let (expected, accept, after) = (expected.clone(), accept.clone(), cases.accepted());
        cases
            .steps("edge.400.read-failed", &format!("read-failed.{id}"), title, move |context| {
                let (draft, expected, accept, after) =
                    (draft.clone(), expected.clone(), accept.clone(), after.clone());
                Box::pin(async move {
                    let mark = context.service_mark();
                    context.script(accept.clone());
                    let sent = context.send(&draft).await;
                    let checks = unread(&expected, &sent.reply);
                    // Its own answer is like all others: JSON, and the page's to read. A stack's answer is not its own.
                    if checks.iter().all(|check| check.ok) {
                        context.check(judge::readable(context.origin(), &sent.reply));
                        context.check(summary::json_content_type(&sent.reply).at(Level::Should));
                    }
                    context.checks(checks);
                    lives_on(context, mark, accept, after).await;
                })
            })
            .stimulus(stimulus)
            .also("statement.nothing-partial-relayed")
            .also("statement.edge-lives-on")
            .also("statement.cors-readable")
            .also("statement.json-content-type")
            .alone();
    }
    for (id, title, draft) in ambiguous() {
        let (accept, after) = (accept.clone(), cases.accepted());
        let point = format!("malformed.{id}");
        let case = cases.steps("statement.nothing-partial-relayed", &point.clone(), title, move |context| {
            let (draft, accept, after, point) = (draft.clone(), accept.clone(), after.clone(), point.clone());
            Box::pin(async move {
                let mark = context.service_mark();
                context.script(accept.clone());
                let sent = context.send(&draft).await;
                let saw = summary::answer(context, &sent.reply);
                context.observe(&point, saw);
                lives_on(context, mark, accept, after).await;
            })
        });
        case.also("statement.malformed-request").also("statement.edge-lives-on").alone();
    }
}

/// Whatever came before, no part of it is relayed, and the next collection passes. That one is the barrier: what
/// the edge relayed of the first is at the service by then, also the beginning of a request that never ends.
async fn lives_on(context: &mut CaseContext, mark: u64, accept: Script, after: Expected) {
    let next = Conversation::post(accept, after).relayed(Relayed::Unjudged);
    context.converse(&next).await;
    let followed = context.fill(&next.draft);
    let mut partial = context.arrivals_since(mark);
    partial.retain(|arrival| {
        let body = arrival.request.body.as_ref();
        let known = body == followed.body.bytes() || body == whole(&context.marker).as_bytes();
        !(known && arrival.request.complete)
    });
    context.check(judge::relayed_nothing(&partial));
}

/// The body of an ambiguous request. A server that takes its chunks, or reads past the header fields, is within its
/// rights (RFC 9112 §6.3), and then this is what it relays. Any part of it holds the marker as well.
fn whole(marker: &str) -> String {
    format!(r#"{marker}{{"sealed":true}}"#)
}

/// The exact body passes. A connection that is closed, or a bare 400 of the HTTP stack, is a warning: the edge's own
/// code had no say. Anything else is wrong.
fn unread(expected: &Expected, reply: &Result<Answer, NoAnswer>) -> Vec<Check> {
    let words = expected.to_string();
    let stack = |actual: &str| {
        let check = Check::new("answer", words.clone(), actual, false).at(Level::Should);
        vec![
            check.hint("the HTTP stack answered in place of the edge: look for its hook for broken requests"),
        ]
    };
    match reply {
        Ok(answer) if answer.status == 400 && answer.body.is_empty() => stack("a 400 without a body"),
        Ok(answer)
            if answer.status == 400 && serde_json::from_slice::<serde_json::Value>(&answer.body).is_err() =>
        {
            stack(&format!("a 400 with {}", judge::shown(&answer.body)))
        }
        Err(NoAnswer::Closed | NoAnswer::Reset) => stack("the connection is closed without an answer"),
        _ => judge::exact(expected, reply),
    }
}

fn unreadable() -> Vec<(Stimulus, &'static str, &'static str, Draft)> {
    let draft = |framing: (&str, &str), body: String| {
        Draft::new("POST", SIGNALS)
            .header("Origin", ORIGIN)
            .header("Content-Type", "application/json")
            .header(framing.0, framing.1)
            .body(Body::Broken(body.into()))
    };
    let begun = format!(r#"{{"sealed":"{MARKER}","#);
    // The marker is as long as its placeholder, so this is the size on the wire.
    let chunk = format!("{:x}\r\n{begun}\r\n", begun.len());
    vec![
        (
            Stimulus::ShortBody,
            "short-body",
            "a body that ends before its Content-Length is answered with read_failed, and nothing is relayed",
            draft(("Content-Length", "500"), begun.clone()),
        ),
        (
            Stimulus::EarlyChunkEnd,
            "early-chunk-end",
            "chunks that end without the last one are answered with read_failed, and nothing is relayed",
            draft(("Transfer-Encoding", "chunked"), chunk.clone()),
        ),
        (
            Stimulus::BrokenChunkSize,
            "broken-chunk-size",
            "a chunk size that is not a number is answered with read_failed, and nothing is relayed",
            draft(("Transfer-Encoding", "chunked"), format!("{chunk}zz\r\n{begun}\r\n0\r\n\r\n")),
        ),
    ]
}

fn ambiguous() -> Vec<(&'static str, &'static str, Draft)> {
    let post =
        || Draft::new("POST", SIGNALS).header("Origin", ORIGIN).header("Content-Type", "application/json");
    let body = whole(MARKER);
    let sized = || Body::Broken(body.clone().into());
    let mut flood = post().header("Content-Length", &body.len().to_string()).body(sized());
    flood.headers.extend((0..2_000).map(|n| (format!("X-Flood-{n}"), "edgeproof".repeat(8))));
    let chunked = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    vec![
        (
            "length-not-a-number",
            "a Content-Length that is not a number: the answer is open, no part is relayed",
            post().header("Content-Length", "abc").body(sized()),
        ),
        (
            "length-negative",
            "a negative Content-Length: the answer is open, no part is relayed",
            post().header("Content-Length", "-5").body(sized()),
        ),
        (
            "length-twice",
            "two Content-Length that differ: the answer is open, no part is relayed",
            post().header("Content-Length", "12").header("Content-Length", "18").body(sized()),
        ),
        (
            "length-and-chunks",
            "Content-Length beside chunks: the answer is open, no part is relayed",
            post()
                .header("Content-Length", "12")
                .header("Transfer-Encoding", "chunked")
                .body(Body::Broken(chunked.into())),
        ),
        ("header-flood", "two thousand header fields: the answer is open, the edge lives on", flood),
    ]
}
