use edgeproof_fixtures::spec::PartName;

use super::outcome::EDGE;
use crate::behaviour::{ByteClass, Condition, Place, Same};

/// Fields that a server may act on, so that the right answer to them is open.
const FIELDS: [(&str, &[&str]); 8] = [
    (
        "a server may act on preconditions (RFC 9110 §13.1)",
        &[
            "if",
            "if-match",
            "if-none-match",
            "if-range",
            "if-modified-since",
            "if-unmodified-since",
            "if-schedule-tag-match",
        ],
    ),
    (
        "a server may negotiate (RFC 9110 §12, RFC 2295, RFC 3229, RFC 7089, RFC 7240)",
        &["a-im", "im", "accept-charset", "accept-datetime", "accept-features", "negotiate", "prefer"],
    ),
    ("a server may check the digest of the content (RFC 9530)", &["content-digest", "repr-digest"]),
    ("a server may refuse a range of content (RFC 9110 §14.5)", &["content-range", "range"]),
    ("a server may answer 425 (RFC 8470 §5.2)", &["early-data"]),
    (
        "of the connection, or of a handshake, and meaningless elsewhere (RFC 9110 §7.6.1, RFC 6455)",
        &[
            "close",
            "keep-alive",
            "proxy-connection",
            "trailer",
            "expect",
            "upgrade",
            "transfer-encoding",
            "sec-websocket-accept",
            "sec-websocket-extensions",
            "sec-websocket-key",
            "sec-websocket-protocol",
            "sec-websocket-version",
        ],
    ),
    ("of a message with content (RFC 9110 §8)", &["content-encoding"]),
    (
        "some frameworks change the method or the target by it",
        &[
            "forwarded",
            "x-forwarded-host",
            "x-http-method",
            "x-http-method-override",
            "x-method-override",
            "x-original-host",
            "x-original-url",
            "x-rewrite-url",
            "x-forwarded-prefix",
        ],
    ),
];

/// The same, in replies.
const OF_REPLIES: [(&str, &[&str]); 3] = [
    (
        "of a request",
        &[
            "accept",
            "accept-encoding",
            "accept-language",
            "access-control-request-headers",
            "access-control-request-method",
            "authorization",
            "cookie",
            "host",
            "if-none-match",
            "origin",
            "te",
        ],
    ),
    ("a client may act on it (RFC 7838 §2.4, RFC 9110 §7.6.1)", &["alt-svc", "connection"]),
    (
        "a grant of the service, of which others are played",
        &["access-control-allow-credentials", "access-control-allow-headers", "access-control-max-age"],
    ),
];

/// Why no exchange of a default run has to meet a condition of a part.
pub(super) fn excluded(part: PartName, condition: &Condition) -> Option<&'static str> {
    let is_edge = part == PartName::Edge;
    match *condition {
        Condition::Has(field) => {
            let is_field = |(_, fields): &&(&str, &[&str])| fields.contains(&&*field.to_ascii_lowercase());
            FIELDS.iter().find(is_field).map(|(why, _)| *why)
        }
        Condition::ReplyHas(field) => {
            let is_field = |(_, fields): &&(&str, &[&str])| fields.contains(&&*field.to_ascii_lowercase());
            FIELDS.iter().chain(&OF_REPLIES).find(is_field).map(|(why, _)| *why)
        }
        Condition::ReplyIs(201..=299, _) => Some("open: statement.other-success"),
        Condition::ReplyIs(305, _) => Some("deprecated (RFC 9110 §15.4.6)"),
        Condition::BodyOver(size) if size >= 1 << 20 => Some("the longest body is not shown (8)"),
        Condition::TargetOver(size) if !is_edge && size >= 1 << 11 => {
            Some("the longest reference is not shown (5.2)")
        }
        Condition::TargetOver(size) if size >= 1 << 12 => Some("8,000 bytes are enough (RFC 9110 §4.1)"),
        Condition::Fields(100..) => Some("servers take up to a hundred fields"),
        Condition::FieldsOver(size) if size >= 1 << 13 => Some("servers take heads up to 8 KiB"),
        Condition::Method("CONNECT") => Some("its target has another form (RFC 9110 §9.3.6)"),
        Condition::Contains(Place::Target, class) if !is_of_urls(class) => {
            Some("a URL has no such character (RFC 3986 §2)")
        }
        Condition::Contains(
            Place::Fields,
            ByteClass::Nul | ByteClass::LineEnd | ByteClass::Control | ByteClass::Delete,
        ) => Some("a field has no such byte (RFC 9110 §5.5)"),
        Condition::Contains(Place::Fields, ByteClass::NotUtf8 | ByteClass::ByteOrderMark) => {
            Some("opaque data in a field (RFC 9110 §5.5)")
        }
        Condition::Contains(Place::Reply, ByteClass::ByteOrderMark) => {
            Some("a parser may refuse it (RFC 8259 §8.1)")
        }
        Condition::Contains(Place::Reference, ByteClass::NotUtf8) => Some("a reference is text (5.2)"),
        Condition::Nth(Same::Connection, 200.., _)
        | Condition::Earlier(Same::Part, 50.., _)
        | Condition::Idle(6000..) => Some("a thorough run has it"),
        Condition::Earlier(Same::Connection, _, outcome) if is_edge && is_broken(outcome) => {
            Some("a broken upload ends its connection (RFC 9112 §9.3)")
        }
        Condition::Earlier(Same::Connection, _, outcome) if is_edge && is_redirected(outcome) => {
            Some("open: an edge may take a redirect for no answer")
        }
        _ => None,
    }
}

fn is_of_urls(class: ByteClass) -> bool {
    let ByteClass::Text(text) = class else { return false };
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte))
}

fn is_redirected(outcome: &Condition) -> bool {
    EDGE.iter().any(|class| class.name == "redirected by the service" && class.when == *outcome)
}

fn is_broken(outcome: &Condition) -> bool {
    *outcome == Condition::Broken
}
