use std::time::Duration;

use bytes::Bytes;

use edgeproof_reports::CaseLevel;
use memchr::memmem;

use crate::cases::{Case, CaseList, Conversation, Edge, EdgeNeed, MARKER, collection, posted, summary};
use crate::judge;

use edgeproof_http::Body;
use edgeproof_mock::Script;

/// `{"sealed":"gzip"}`, compressed with gzip: an edge could decompress it.
const COMPRESSED: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\x2a\x4e\x4d\xcc\x49\x4d\x51\xb2\
    \x52\x4a\xaf\xca\x2c\x50\xaa\x05\x00\xa8\x09\xc1\x4d\x11\x00\x00\x00";

/// The body that the page sent reaches the service once and unchanged (2, 7.2).
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    for (id, title, body) in bodies().into_iter().chain(binary()) {
        let has_marker = memmem::find(&body, MARKER.as_bytes()).is_some();
        let case = body_case(
            cases,
            &format!("relay.body.{id}"),
            &format!("a body {title} arrives unchanged"),
            Body::Sized(body),
        );
        case.also("statement.body-not-judged").exclusive = !has_marker;
    }
    for (id, title, kib) in [("256k", "of 256 KiB", 256), ("900k", "of 900 KiB", 900)] {
        let conversation = cases.accepted_post().body(Body::Sized(large(kib * 1024)));
        cases
            .case(
                "statement.body-large",
                &format!("relay.body.{id}"),
                &format!("a body {title} arrives unchanged"),
            )
            .conversation(conversation)
            .level(CaseLevel::Should);
    }
    for (id, title, body) in framings() {
        let waits = matches!(body, Body::Expect(_));
        let title = format!("a body sent {title} arrives unchanged");
        let case = body_case(cases, &format!("relay.framing.{id}"), &title, body);
        if waits {
            // A monitor judges the interim answer.
            case.also("statement.messages-tidy");
        }
    }
    offered_protocol(cases);
    for (id, title, kind) in [
        ("text-plain", "text/plain (the default of fetch for a string)", Some("text/plain;charset=UTF-8")),
        ("none", "no content type", None),
        ("other", "an unknown content type", Some("application/x-edgeproof")),
    ] {
        let conversation = cases.accepted_post();
        let draft = posted(conversation.draft.body.clone(), kind);
        cases
            .case(
                "statement.body-unchanged",
                &format!("relay.type.{id}"),
                &format!("a body with {title} arrives unchanged"),
            )
            .conversation(conversation.draft(draft));
    }
    once(cases);
    repeats(cases);
}

/// The edge does not retry after a refusal.
fn once(cases: &mut CaseList<'_, Edge>) {
    for (status, reason) in
        [(503, "edgeproof_try_later"), (409, "edgeproof_seen_before"), (401, "edgeproof_not_now")]
    {
        let accept = cases.accept().replies.remove(0);
        // A retry is accepted, so that the answer of an edge that retries is wrong too.
        let replies = vec![cases.refuse(status, reason).replies.remove(0), accept];
        let conversation = Conversation::post(Script { replies }, cases.refused(status, reason));
        cases
            .case(
                "statement.relayed-once",
                &format!("relay.once.after-{status}"),
                &format!("the edge does not retry a collection that was refused with {status}"),
            )
            .conversation(conversation);
    }
}

/// HTTP clients may send a request again by themselves after these answers. The page learns the outcome of the last attempt.
fn repeats(cases: &mut CaseList<'_, Edge>) {
    for status in [408, 417, 421] {
        let reason = "edgeproof_again";
        let mut script = cases.refuse(status, reason);
        script.replies.extend(cases.accept().replies);
        let (refused, accepted) = (cases.refused(status, reason), cases.accepted());
        let title = format!("a page learns the last outcome of a collection that was refused with {status}");
        cases
            .case("statement.retry-told-truth", &format!("relay.repeat.{status}"), &title)
            .steps(steps!(with(script, refused, accepted), async |context| {
                context.script(script);
                let draft = context.fill(&collection());
                let sent = context.send(&draft).await;
                let relayed = context.relayed().await;
                let times = relayed.complete.len();
                let last = if times > 1 { &accepted } else { &refused };
                context.checks(judge::exact(last, &sent.reply));
                let body = draft.body.bytes();
                context.checks(judge::relayed_once(body, &relayed, &sent.reply, CaseLevel::Must));
                let answer = summary::answer(&context.marker, &sent.reply);
                context.observe_case(format!("{answer}; relayed {times} times"));
            }))
            .observes_itself()
            .requires(&[EdgeNeed::Service, EdgeNeed::PlainReasons])
            .also("statement.relayed-once");
    }
}

/// A server may ignore the offer of another protocol (RFC 9110 §7.8), and does so where it does not know the protocol. Java's
/// `HttpClient` offers h2c over http.
fn offered_protocol(cases: &mut CaseList<'_, Edge>) {
    let accept = cases.accept();
    let accepted = cases.accepted();
    cases
        .case(
            "statement.body-unchanged",
            "relay.offered-protocol",
            "a collection is relayed although its client offers another protocol",
        )
        .steps(steps!(with(accept, accepted), async |context| {
            // Some runtimes answer it below the edge's code.
            context.weakest = CaseLevel::Open;
            let draft = collection().header("Connection", "Upgrade").header("Upgrade", "edgeproof/1");
            let sent = context.converse(&Conversation::request(draft).script(accept)).await;
            context.weakest = CaseLevel::Must;
            context.checks(judge::exact(&accepted, &sent.reply));
            let relayed = context.relayed().await;
            let body = context.fill(&collection()).body;
            context.checks(judge::relayed_once(body.bytes(), &relayed, &sent.reply, CaseLevel::Should));
        }))
        .level(CaseLevel::Should)
        .requires(&[EdgeNeed::Service]);
}

fn body_case<'c>(cases: &'c mut CaseList<'_, Edge>, id: &str, title: &str, body: Body) -> &'c mut Case<Edge> {
    let conversation = cases.accepted_post().body(body);
    cases
        .case("statement.body-unchanged", id, title)
        .conversation(conversation)
        .requires(&[EdgeNeed::Service])
}

/// Bodies with a marker.
fn bodies() -> Vec<(&'static str, &'static str, Bytes)> {
    let text = |template: &str| Bytes::from(template.replace('§', MARKER));
    let deep = format!(r#"{{"m":"{MARKER}","deep":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    vec![
        ("compact", "without whitespace", text(r#"{"v":1,"sealed":"§","list":[1,2,3]}"#)),
        ("pretty", "with indentation", text("{\n  \"v\": 1,\n  \"sealed\": \"§\"\n}")),
        ("space-around", "with whitespace around it", text(" \t\r\n{\"sealed\":\"§\"} \r\n\t ")),
        ("trailing-newline", "with a trailing newline", text("{\"sealed\":\"§\"}\n")),
        ("key-order", "with unsorted keys", text(r#"{"z":1,"a":2,"10":3,"9":4,"sealed":"§"}"#)),
        ("duplicate-keys", "with a duplicate key", text(r#"{"sealed":"§","a":1,"a":2}"#)),
        (
            "escaped-unicode",
            "with escaped characters",
            text(r#"{"sealed":"§","t":"\u00e9\u4e2d\ud83d\ude00\/"}"#),
        ),
        ("raw-unicode", "with non-ASCII characters", text(r#"{"sealed":"§","t":"é中😀"}"#)),
        (
            "unicode-forms",
            "with composed and decomposed characters",
            text("{\"sealed\":\"§\",\"t\":\"\u{e9} e\u{301}\"}"),
        ),
        ("lone-surrogate", "with an escaped lone surrogate", text(r#"{"sealed":"§","t":"\ud800"}"#)),
        (
            "large-numbers",
            "with numbers past 2^53",
            text(r#"{"sealed":"§","n":9007199254740993,"m":123456789012345678901234567890}"#),
        ),
        ("fraction-zero", "with the number 1.0", text(r#"{"sealed":"§","n":1.0}"#)),
        ("minus-zero", "with the number -0", text(r#"{"sealed":"§","n":-0}"#)),
        ("huge-exponent", "with the number 1e400", text(r#"{"sealed":"§","n":1e400}"#)),
        ("deep", "with 200 nested arrays", deep.into()),
        ("64k", "of 64 KiB", large(64 * 1024)),
        ("top-level-array", "that is an array", text(r#"[1,"§"]"#)),
        ("top-level-string", "that is a string", text(r#""§""#)),
        ("bom", "with a byte order mark", text("\u{feff}{\"sealed\":\"§\"}")),
        (
            "invalid-utf8",
            "that is not UTF-8",
            [b"{\"sealed\":\"", MARKER.as_bytes(), b"\xff\xfe\xc3\x28\"}"].concat().into(),
        ),
        ("nul", "with NUL bytes", [MARKER.as_bytes(), b"\0\0{\"a\":\"\0\"}"].concat().into()),
        ("plain-text", "that is plain text", text("not json: §")),
    ]
}

/// Bodies without space for a marker.
fn binary() -> Vec<(&'static str, &'static str, Bytes)> {
    vec![
        ("empty-object", "that is {}", Bytes::from_static(b"{}")),
        ("top-level-number", "that is a number", Bytes::from_static(b"42")),
        ("empty", "without bytes", Bytes::new()),
        ("gzip-like", "that is compressed with gzip", Bytes::from_static(COMPRESSED)),
    ]
}

fn framings() -> Vec<(&'static str, &'static str, Body)> {
    let body = Bytes::from(format!(r#"{{"v":1,"sealed":"{MARKER}"}}"#));
    vec![
        ("chunked", "in chunks", Body::Chunked(large(8 * 1024), 1000)),
        ("one-byte-chunks", "in chunks of one byte", Body::Chunked(body.clone(), 1)),
        ("expect-continue", "with Expect: 100-continue", Body::Expect(body.clone())),
        ("slowly", "slowly", Body::Slow(body, 8, Duration::from_millis(15))),
    ]
}

/// A JSON body of exactly this many bytes, if the marker is as long as its placeholder.
fn large(bytes: usize) -> Bytes {
    let head = format!(r#"{{"sealed":"{MARKER}","fill":""#);
    let count = bytes.saturating_sub(head.len() + 2);
    let mut fill = "abcdefghijklmnopqrstuvwxyz".repeat(count.div_ceil(26));
    fill.truncate(count);
    format!("{head}{fill}\"}}").into()
}
