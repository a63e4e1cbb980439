use edgeproof_fixtures::spec::Stimulus;
use edgeproof_reports::CaseLevel;

use crate::cases::{CaseContext, Catalog, Conversation, ExpectedRelay, MARKER, ORIGIN, summary, to_signals};
use crate::judge::{self, Check, ExpectedAnswer};
use edgeproof_http::{Answer, Body, Draft, NoAnswer};
use edgeproof_mock::Script;

/// Requests whose body the edge cannot read (7.2). It relays no part of them and keeps working.
pub(super) fn add(cases: &mut Catalog<'_>) {
    let expected = cases.answer("edge.400.read-failed", None);
    let accept = cases.accept();
    for (stimulus, id, title, draft) in unreadable() {
        let (expected, accept, after) = (expected.clone(), accept.clone(), cases.accepted());
        cases
            .edge_steps("edge.400.read-failed", &format!("read-failed.{id}"), title, move |context| {
                let (draft, expected, accept, after) =
                    (draft.clone(), expected.clone(), accept.clone(), after.clone());
                Box::pin(async move {
                    let mark = context.service_mark();
                    context.script(accept.clone());
                    let sent = context.send(&draft).await;
                    let checks = unread(&expected, &sent.reply);
                    // The edge's own answer must be JSON and readable by the page; an answer of its HTTP stack need not.
                    if checks.iter().all(|check| check.ok) {
                        context.check(judge::readable(context.origin(), &sent.reply));
                        context.check(judge::json_content_type(&sent.reply).at(CaseLevel::Should));
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
            .exclusive();
    }
    for (id, title, draft) in ambiguous() {
        let (accept, after) = (accept.clone(), cases.accepted());
        let point = format!("malformed.{id}");
        let case =
            cases.edge_steps("statement.nothing-partial-relayed", &point.clone(), title, move |context| {
                let (draft, accept, after, point) =
                    (draft.clone(), accept.clone(), after.clone(), point.clone());
                Box::pin(async move {
                    let mark = context.service_mark();
                    context.script(accept.clone());
                    let sent = context.send(&draft).await;
                    let observed = summary::answer(&context.marker, &sent.reply);
                    context.observe(&point, observed);
                    lives_on(context, mark, accept, after).await;
                })
            });
        case.also("statement.malformed-request").also("statement.edge-lives-on").exclusive();
    }
}

/// The edge relays no part of the request and accepts the next collection. When that one is answered, anything that the
/// edge relayed before has arrived too, even an incomplete request.
async fn lives_on(context: &mut CaseContext, mark: u64, accept: Script, after: ExpectedAnswer) {
    let next = Conversation::post(accept, after).relay(ExpectedRelay::Any);
    context.converse(&next).await;
    let followed = context.fill(&next.draft);
    let mut partial = context.arrivals_since(mark);
    partial.retain(|arrival| {
        let body = arrival.request.body.as_ref();
        let known = body == followed.body.bytes() || body == whole(&context.marker).as_bytes();
        !(known && arrival.request.complete)
    });
    context.check(judge::not_relayed(&partial));
}

/// The body of an ambiguous request. A server may accept the chunks or ignore the header fields (RFC 9112 §6.3), and then
/// it relays this body. Any prefix contains the marker.
fn whole(marker: &str) -> String {
    format!(r#"{marker}{{"sealed":true}}"#)
}

/// The exact body passes. A closed connection or a bare 400 from the HTTP stack is a warning, because the edge's own code
/// did not run. Anything else fails.
fn unread(expected: &ExpectedAnswer, reply: &Result<Answer, NoAnswer>) -> Vec<Check> {
    let expected_text = expected.to_string();
    let stack = |actual: &str| {
        let check = Check::new("answer", expected_text.clone(), actual, false).at(CaseLevel::Should);
        vec![
            check
                .hint("the HTTP stack answered, not your code; set its error handler for malformed requests"),
        ]
    };
    match reply {
        Ok(answer) if answer.status == 400 && answer.body.is_empty() => stack("a 400 without a body"),
        Ok(answer)
            if answer.status == 400 && serde_json::from_slice::<serde_json::Value>(&answer.body).is_err() =>
        {
            stack(&format!("a 400 with {}", judge::excerpt(&answer.body)))
        }
        Err(NoAnswer::Closed | NoAnswer::Reset) => stack("the edge closes the connection without an answer"),
        _ => judge::exact(expected, reply),
    }
}

fn unreadable() -> Vec<(Stimulus, &'static str, &'static str, Draft)> {
    let draft = |framing: (&str, &str), body: String| {
        to_signals("POST")
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
            "the edge answers a body shorter than its Content-Length with read_failed and relays nothing",
            draft(("Content-Length", "500"), begun.clone()),
        ),
        (
            Stimulus::EarlyChunkEnd,
            "early-chunk-end",
            "the edge answers chunks without a last chunk with read_failed and relays nothing",
            draft(("Transfer-Encoding", "chunked"), chunk.clone()),
        ),
        (
            Stimulus::BrokenChunkSize,
            "broken-chunk-size",
            "the edge answers an invalid chunk size with read_failed and relays nothing",
            draft(("Transfer-Encoding", "chunked"), format!("{chunk}zz\r\n{begun}\r\n0\r\n\r\n")),
        ),
    ]
}

fn ambiguous() -> Vec<(&'static str, &'static str, Draft)> {
    let post = || to_signals("POST").header("Origin", ORIGIN).header("Content-Type", "application/json");
    let body = whole(MARKER);
    let sized = || Body::Broken(body.clone().into());
    let mut flood = post().header("Content-Length", &body.len().to_string()).body(sized());
    flood.headers.extend((0..2_000).map(|n| (format!("X-Flood-{n}"), "edgeproof".repeat(8))));
    let chunked = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    vec![
        (
            "length-not-a-number",
            "the edge relays no part of a request with an invalid Content-Length",
            post().header("Content-Length", "abc").body(sized()),
        ),
        (
            "length-negative",
            "the edge relays no part of a request with a negative Content-Length",
            post().header("Content-Length", "-5").body(sized()),
        ),
        (
            "length-twice",
            "the edge relays no part of a request with two different Content-Lengths",
            post().header("Content-Length", "12").header("Content-Length", "18").body(sized()),
        ),
        (
            "length-and-chunks",
            "the edge relays no part of a request with both Content-Length and chunks",
            post()
                .header("Content-Length", "12")
                .header("Transfer-Encoding", "chunked")
                .body(Body::Broken(chunked.into())),
        ),
        ("header-flood", "the edge still works after a request with 2000 header fields", flood),
    ]
}
