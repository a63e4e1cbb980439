use std::time::Duration;

use bytes::Bytes;

use super::conversation::{Conversation, MARKER, posted};
use edgeproof_reports::CaseLevel as Level;

use super::{Catalog, Need, Phase};
use crate::judge::{self, Check};
use edgeproof_http::Body;
use edgeproof_mock::Script;

/// What reaches the service is what the page sent (2, 7.2), once.
pub(super) fn add(cases: &mut Catalog<'_>) {
    for (id, title, body) in bodies() {
        body_case(
            cases,
            &format!("relay.body.{id}"),
            &format!("a body {title} arrives as it is"),
            Body::Sized(body),
        )
        .also("statement.body-not-judged");
    }
    for (id, title, body) in binary() {
        body_case(
            cases,
            &format!("relay.body.{id}"),
            &format!("a body {title} arrives as it is"),
            Body::Sized(body),
        )
        .also("statement.body-not-judged")
        .alone();
    }
    for (id, title, kib) in [("256k", "of 256 KiB", 256), ("900k", "of 900 KiB", 900)] {
        let conversation =
            Conversation::post(cases.accept(), cases.accepted()).body(Body::Sized(large(kib * 1024)));
        cases
            .conversation(
                "statement.body-large",
                &format!("relay.body.{id}"),
                &format!("a body {title} arrives as it is"),
                conversation,
            )
            .level(Level::Should);
    }
    for (id, title, body) in framings() {
        body_case(
            cases,
            &format!("relay.framing.{id}"),
            &format!("a body sent {title} arrives as it is"),
            body,
        );
    }
    for (id, title, kind) in [
        ("text-plain", "the text/plain that a page's fetch gives a string", Some("text/plain;charset=UTF-8")),
        ("none", "no content type", None),
        ("other", "a content type that nobody has seen", Some("application/x-edgeproof")),
    ] {
        let conversation = Conversation::post(cases.accept(), cases.accepted());
        let draft = posted(conversation.draft.body.clone(), kind);
        cases.conversation(
            "statement.body-unchanged",
            &format!("relay.type.{id}"),
            &format!("a body with {title} arrives as it is"),
            conversation.draft(draft),
        );
    }
    once(cases);
    late(cases);
}

/// A copy can also come when everybody has stopped looking: all collections that were to arrive once are counted again.
fn late(cases: &mut Catalog<'_>) {
    cases
        .steps(
            "statement.relayed-once",
            "relay.once.to-the-end",
            "of no collection a copy arrived after its answer",
            |context| {
                Box::pin(async move {
                    let late = context.edge.late_copies();
                    let actual = late.first().map_or("none".to_owned(), |first| {
                        format!("{}, the first of {}", late.len(), judge::shown(&first.request.body))
                    });
                    context.check(Check::new("copies", "none", actual, late.is_empty()));
                })
            },
        )
        .needs(&[Need::Service])
        .phase(Phase::Last);
}

/// A refusal is no reason to try again.
fn once(cases: &mut Catalog<'_>) {
    for (status, reason) in
        [(503, "edgeproof_try_later"), (409, "edgeproof_seen_before"), (401, "edgeproof_not_now")]
    {
        let accept = cases.accept().replies.remove(0);
        // Whoever tries again is accepted: then the answer is wrong as well as the count.
        let replies = vec![cases.refuse(status, reason).replies.remove(0), accept];
        let conversation = Conversation::post(Script { replies }, cases.refused(status, reason));
        cases.conversation(
            "statement.relayed-once",
            &format!("relay.once.after-{status}"),
            &format!("a collection that was refused with {status} is not sent again"),
            conversation,
        );
    }
}

fn body_case<'c>(cases: &'c mut Catalog<'_>, id: &str, title: &str, body: Body) -> &'c mut super::Case {
    let conversation = Conversation::post(cases.accept(), cases.accepted()).body(body);
    cases.conversation("statement.body-unchanged", id, title, conversation).needs(&[Need::Service])
}

/// Bodies that hold a marker.
fn bodies() -> Vec<(&'static str, &'static str, Bytes)> {
    let text = |template: &str| Bytes::from(template.replace('§', MARKER));
    let deep = format!(r#"{{"m":"{MARKER}","deep":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    vec![
        ("compact", "without white space", text(r#"{"v":1,"sealed":"§","list":[1,2,3]}"#)),
        ("pretty", "with indentation", text("{\n  \"v\": 1,\n  \"sealed\": \"§\"\n}")),
        ("space-around", "with white space around it", text(" \t\r\n{\"sealed\":\"§\"} \r\n\t ")),
        ("trailing-newline", "with a newline at its end", text("{\"sealed\":\"§\"}\n")),
        ("key-order", "whose keys are in no order", text(r#"{"z":1,"a":2,"10":3,"9":4,"sealed":"§"}"#)),
        ("duplicate-keys", "with a key twice", text(r#"{"sealed":"§","a":1,"a":2}"#)),
        (
            "escaped-unicode",
            "with escaped characters",
            text(r#"{"sealed":"§","t":"\u00e9\u4e2d\ud83d\ude00\/"}"#),
        ),
        ("raw-unicode", "with characters beyond ASCII", text(r#"{"sealed":"§","t":"é中😀"}"#)),
        (
            "unicode-forms",
            "with composed and decomposed characters",
            text("{\"sealed\":\"§\",\"t\":\"\u{e9} e\u{301}\"}"),
        ),
        (
            "lone-surrogate",
            "with an escaped half of a surrogate pair",
            text(r#"{"sealed":"§","t":"\ud800"}"#),
        ),
        (
            "large-numbers",
            "with numbers past 2^53",
            text(r#"{"sealed":"§","n":9007199254740993,"m":123456789012345678901234567890}"#),
        ),
        ("fraction-zero", "with 1.0", text(r#"{"sealed":"§","n":1.0}"#)),
        ("minus-zero", "with -0", text(r#"{"sealed":"§","n":-0}"#)),
        ("huge-exponent", "with 1e400", text(r#"{"sealed":"§","n":1e400}"#)),
        ("deep", "nested 200 deep", deep.into()),
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
        (
            "gzip-like",
            "that begins as gzip does",
            [b"\x1f\x8b\x08\x00\x00\x00\x00\x00", MARKER.as_bytes(), b"\x03\x00"].concat().into(),
        ),
    ]
}

/// Bodies that can hold none.
fn binary() -> Vec<(&'static str, &'static str, Bytes)> {
    vec![
        ("empty-object", "that is {}", Bytes::from_static(b"{}")),
        ("top-level-number", "that is a number", Bytes::from_static(b"42")),
        ("empty", "of no bytes", Bytes::new()),
    ]
}

fn framings() -> Vec<(&'static str, &'static str, Body)> {
    let body = Bytes::from(format!(r#"{{"v":1,"sealed":"{MARKER}"}}"#));
    vec![
        ("chunked", "in chunks", Body::Chunked(large(8 * 1024), 1000)),
        ("one-byte-chunks", "in chunks of one byte", Body::Chunked(body.clone(), 1)),
        ("expect-continue", "after Expect: 100-continue", Body::Expect(body.clone())),
        ("slowly", "slowly", Body::Slow(body, 8, Duration::from_millis(15))),
    ]
}

/// A JSON body of exactly this many bytes, not counting what the marker adds.
fn large(bytes: usize) -> Bytes {
    let head = format!(r#"{{"sealed":"{MARKER}","fill":""#);
    let fill = bytes.saturating_sub(head.len() + 2);
    let fill: String = ('a'..='z').cycle().take(fill).collect();
    format!("{head}{fill}\"}}").into()
}
