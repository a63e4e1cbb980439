use edgeproof_fixtures::spec::{Advice, Row, Stimulus, Table};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{AnswerSubject, DifferenceKind};

use crate::cases::{
    CaseList, Catalog, Conversation, Edge, EdgeCaseContext, EdgeObservation, ExpectedRelay, MARKER, ORIGIN,
    summary, to_signals,
};
use crate::judge::{self, AnswerResult, Check, ExpectedAnswer};
use bytes::Bytes;
use edgeproof_http::{Answer, Body, Draft, NoAnswer};
use serde_json::Value;

/// Requests whose body the edge cannot read (7.2). It completes no relay of a part of them and keeps working.
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    let expected = cases.answer("edge.400.read-failed", None);
    let words = edge_words(cases);
    let next = cases.accepted_post().relay(ExpectedRelay::Any);
    for (stimulus, id, title, draft) in unreadable() {
        // A page that is gone resets the connection, or ends it: servers notice the two in different ways.
        let aborted =
            aborted(&draft, stimulus).map(|draft| Conversation::request(draft).script(cases.accept()));
        let broken = Conversation::request(draft).script(cases.accept());
        let (expected, words, next) = (expected.clone(), words.clone(), next.clone());
        cases
            .case("edge.400.read-failed", &format!("read-failed.{id}"), title)
            .steps(steps!(with(broken, aborted, expected, words, next), async |context| {
                let mark = context.service_mark();
                let sent = context.converse(&broken).await;
                context.checks(unread(&expected, &words, &sent.reply));
                // The page has closed its connection, so it reads no answer.
                let readable = judge::readable(context.origin(), &sent.reply).ok;
                let readable = if readable { "readable" } else { "not readable" };
                let answer = summary::answer(&context.marker, &sent.reply);
                context.observe_case(format!("{answer}; {readable} for the page"));
                // Nobody reads its answer.
                if let Some(aborted) = &aborted {
                    context.converse(aborted).await;
                }
                lives_on(context, mark, &next).await;
            }))
            .observes_itself()
            .stimulus(stimulus)
            .also("statement.stack-answers")
            .also("statement.read-failed-cors")
            .also("statement.nothing-partial-relayed")
            .also("statement.edge-lives-on")
            .also("statement.json-content-type")
            .exclusive();
    }
    for (id, title, draft) in ambiguous() {
        let broken = Conversation::request(draft).script(cases.accept()).observe(EdgeObservation::Answer);
        let next = next.clone();
        cases
            .case("statement.nothing-partial-relayed", &format!("malformed.{id}"), title)
            .steps(steps!(with(broken, next), async |context| {
                let mark = context.service_mark();
                context.converse(&broken).await;
                lives_on(context, mark, &next).await;
            }))
            .observes_itself()
            .also("statement.malformed-request")
            .also("statement.edge-lives-on")
            .exclusive();
    }
}

/// The same upload, where the client resets the connection in place of ending it. None: its bytes are malformed, whatever
/// comes after them.
fn aborted(draft: &Draft, stimulus: Stimulus) -> Option<Draft> {
    let ends = matches!(stimulus, Stimulus::ShortBody | Stimulus::EarlyChunkEnd);
    let bytes = Bytes::copy_from_slice(draft.body.bytes());
    ends.then(|| draft.clone().body(Body::Aborted(bytes)))
}

/// The edge completes no request with a part of the body, and accepts the next collection. When that one is answered,
/// anything that the edge relayed before has arrived too. A streaming edge begins a request and breaks it off.
async fn lives_on(context: &mut EdgeCaseContext, mark: u64, next: &Conversation) {
    context.converse(next).await;
    let followed = context.fill(&next.draft);
    let mut partial = context.relayed_since(mark).await;
    partial.complete.retain(|arrival| {
        let body = arrival.request.body.as_ref();
        body != followed.body.bytes() && body != whole(&context.marker).as_bytes()
    });
    context.check(judge::not_relayed(&partial));
}

/// The body of an ambiguous request. A server may accept the chunks or ignore the header fields (RFC 9112 §6.3), and then
/// it relays this body. Any prefix contains the marker.
fn whole(marker: &str) -> String {
    format!(r#"{marker}{{"sealed":true}}"#)
}

/// The error codes in the edge's own answers, in lower case.
fn edge_words(cases: &Catalog<'_>) -> Vec<String> {
    let bodies = cases.spec.table(Table::Edge).filter_map(Row::body);
    let errors = bodies.filter_map(|body| body.get("error")?.as_str());
    errors.map(str::to_lowercase).collect()
}

/// The exact answer passes. A closed connection, or a 4xx without a code of the edge, is a warning: the HTTP stack
/// answered before the edge's own code ran (RFC 9112 §8). Any other answer fails.
fn unread(expected: &ExpectedAnswer, words: &[String], reply: &AnswerResult) -> Vec<Check> {
    let is_own = |answer: &Answer| {
        // As JSON again, because characters of a code can be escaped.
        let body = serde_json::from_slice(&answer.body).map(|body: Value| body.to_string());
        let body = body.unwrap_or_else(|_| String::from_utf8_lossy(&answer.body).into()).to_lowercase();
        words.iter().any(|word| body.contains(word))
    };
    let stack = |check: Check| vec![check.at(CaseLevel::Should).advise(Advice::StackAnswered)];
    match reply {
        Ok(answer) if (400..500).contains(&answer.status) && !is_own(answer) => stack(Check::judged(
            DifferenceKind::Answer {
                subject: AnswerSubject::Answer,
                expected: vec![expected.value()],
                actual: vec![judge::answer_value(answer, expected.body.as_ref())],
            },
            false,
        )),
        Ok(_) => {
            let mut checks = judge::exact(expected, reply);
            checks.push(judge::json_content_type(reply).at(CaseLevel::Should));
            checks
        }
        Err(why @ (NoAnswer::Closed | NoAnswer::Reset)) => stack(Check::unanswered(why, expected.wanted())),
        Err(_) => judge::exact(expected, reply),
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
    // Functions that read any number read these sizes, too. They are none (RFC 9112 §7.1).
    let number = |before: &str, last: &str| {
        let chunks = format!("{before}{chunk}{last}0\r\n\r\n");
        draft(("Transfer-Encoding", "chunked"), chunks)
    };
    // Complete JSON is no sign of a complete body.
    let json = format!(r#"{{"sealed":"{MARKER}"}}"#);
    let large = |bytes: usize| format!("{begun}\"fill\":\"{}", "f".repeat(bytes));
    let large_chunks = |bytes: usize| {
        let text = large(bytes);
        format!("{:x}\r\n{text}\r\n", text.len())
    };
    vec![
        (
            Stimulus::ShortBody,
            "short-body",
            "the edge answers read_failed to a body shorter than its Content-Length, and completes no relay",
            draft(("Content-Length", "500"), begun.clone()),
        ),
        (
            Stimulus::EarlyChunkEnd,
            "early-chunk-end",
            "the edge answers read_failed to chunks without a last chunk, and completes no relay",
            draft(("Transfer-Encoding", "chunked"), chunk.clone()),
        ),
        (
            Stimulus::BrokenChunkSize,
            "broken-chunk-size",
            "the edge answers read_failed to an invalid chunk size, and completes no relay",
            draft(("Transfer-Encoding", "chunked"), format!("{chunk}zz\r\n{begun}\r\n0\r\n\r\n")),
        ),
        (
            Stimulus::BrokenChunkSize,
            "chunk-size.prefix",
            "the edge answers read_failed to a chunk size that begins with 0x, and completes no relay",
            number("0x", ""),
        ),
        (
            Stimulus::BrokenChunkSize,
            "chunk-size.sign",
            "the edge answers read_failed to a chunk size with a sign, and completes no relay",
            number("+", ""),
        ),
        (
            Stimulus::BrokenChunkSize,
            "chunk-size.separator",
            "the edge answers read_failed to a chunk size with an underscore, and completes no relay",
            number("0_", ""),
        ),
        (
            Stimulus::BrokenChunkSize,
            "chunk-size.zero",
            "the edge answers read_failed to a last chunk of the size -0, and completes no relay",
            number("", "-"),
        ),
        (
            Stimulus::ShortBody,
            "short-body-of-json",
            "the edge answers read_failed to a body that is JSON, but shorter than its Content-Length",
            draft(("Content-Length", "500"), json.clone()),
        ),
        (
            Stimulus::EarlyChunkEnd,
            "early-chunk-end-after-json",
            "the edge answers read_failed to chunks that are JSON, but lack the last chunk",
            draft(("Transfer-Encoding", "chunked"), format!("{:x}\r\n{json}\r\n", json.len())),
        ),
        (
            Stimulus::ShortBody,
            "short-large-body",
            "the edge answers read_failed to a large body shorter than its Content-Length, and completes no relay",
            draft(("Content-Length", "300000"), large(100_000)),
        ),
        (
            Stimulus::EarlyChunkEnd,
            "early-large-chunk-end",
            "the edge answers read_failed to large chunks without a last chunk, and completes no relay",
            draft(("Transfer-Encoding", "chunked"), large_chunks(70_000)),
        ),
    ]
}

fn ambiguous() -> Vec<(&'static str, &'static str, Draft)> {
    let post = || to_signals("POST").header("Origin", ORIGIN).header("Content-Type", "application/json");
    let body = whole(MARKER);
    // A client that closes its half after a complete body looks to some servers like one that breaks off.
    let complete = || Body::Raw(body.clone().into());
    let endless = || Body::Broken(body.clone().into());
    let mut flood = post().header("Content-Length", &body.len().to_string()).body(complete());
    flood.headers.extend((0..2_000).map(|n| (format!("X-Flood-{n}"), "edgeproof".repeat(8))));
    let chunked = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    vec![
        (
            "length-not-a-number",
            "the edge relays no incomplete body of a request with an invalid Content-Length",
            post().header("Content-Length", "abc").body(endless()),
        ),
        (
            "length-negative",
            "the edge relays no incomplete body of a request with a negative Content-Length",
            post().header("Content-Length", "-5").body(endless()),
        ),
        (
            "length-twice",
            "the edge relays no incomplete body of a request with two different Content-Lengths",
            post().header("Content-Length", "12").header("Content-Length", "18").body(complete()),
        ),
        (
            "length-and-chunks",
            "the edge relays no incomplete body of a request with both Content-Length and chunks",
            post()
                .header("Content-Length", "12")
                .header("Transfer-Encoding", "chunked")
                .body(Body::Raw(chunked.into())),
        ),
        ("header-flood", "the edge still works after a request with 2000 header fields", flood),
    ]
}
