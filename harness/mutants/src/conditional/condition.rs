use edgeproof_fixtures::register;
use edgeproof_fixtures::spec::PartName;

use super::excluded::excluded;
use super::outcome::outcomes;
use crate::behaviour::{ByteClass, Condition, Place, Same};

/// A generated condition.
#[derive(Debug)]
pub(super) struct Generated {
    /// In words.
    pub(super) name: String,
    pub(super) when: Condition,
    /// It is of the service's reply, which an edge does not know before it has relayed.
    pub(super) needs_outcome: bool,
    /// Why no exchange of a default run has to meet it. None: one has to.
    pub(super) excluded: Option<&'static str>,
}

/// Numbers of an exchange that developers choose for limits, and that counters overflow at.
const ORDINALS: [u32; 7] = [2, 5, 10, 50, 100, 200, 500];
/// Exponents of the sizes of bodies.
const BODY_SIZES: std::ops::RangeInclusive<u32> = 1..=24;
/// Exponents of the sizes of targets and fields.
const HEAD_SIZES: std::ops::RangeInclusive<u32> = 4..=14;
/// Texts that parsers, escapers and stores treat specially.
const TEXTS: [(&str, &str); 16] = [
    ("a quote", "\""),
    ("an apostrophe", "'"),
    ("a backslash", "\\"),
    ("a percent sign", "%"),
    ("a plus sign", "+"),
    ("an ampersand", "&"),
    ("a semicolon", ";"),
    ("a colon", ":"),
    ("a comma", ","),
    ("an angle bracket", "<"),
    ("a brace", "{"),
    ("a dollar sign", "$"),
    ("a tilde", "~"),
    ("two dots", ".."),
    ("two slashes", "//"),
    ("two hyphens", "--"),
];
const CLASSES: [(&str, ByteClass); 12] = [
    ("NUL", ByteClass::Nul),
    ("a tab", ByteClass::Tab),
    ("a line end", ByteClass::LineEnd),
    ("a control character", ByteClass::Control),
    ("DEL", ByteClass::Delete),
    ("a byte above 127", ByteClass::NotAscii),
    ("a character of two bytes", ByteClass::TwoBytes),
    ("a character of three bytes", ByteClass::ThreeBytes),
    ("a character of four bytes", ByteClass::FourBytes),
    ("bytes that are not UTF-8", ByteClass::NotUtf8),
    ("a byte order mark", ByteClass::ByteOrderMark),
    ("a change of direction", ByteClass::Direction),
];

/// All conditions of a part.
pub(super) fn conditions(part: PartName) -> Vec<Generated> {
    let mut all = Vec::new();
    let mut add = |name: String, when: Condition| {
        let needs_outcome = matches!(
            when,
            Condition::ReplyIs(..) | Condition::ReplyHas(_) | Condition::Contains(Place::Reply, _)
        );
        let excluded = excluded(part, &when);
        all.push(Generated { name, when, needs_outcome, excluded });
    };
    let is_edge = part == PartName::Edge;
    for method in register::methods() {
        add(format!("method {method}"), Condition::Method(method));
    }
    for field in register::fields() {
        add(format!("field {field}"), Condition::Has(field));
    }
    if is_edge {
        for field in register::fields() {
            add(format!("reply field {field}"), Condition::ReplyHas(field));
        }
        for status in register::statuses() {
            add(format!("reply status {status}"), Condition::ReplyIs(status, status));
        }
        for status in [299, 418, 430, 499, 520, 599] {
            add(format!("reply status {status}, not registered"), Condition::ReplyIs(status, status));
        }
        for size in BODY_SIZES {
            add(format!("body of 2^{size} bytes or more"), Condition::BodyOver((1 << size) - 1));
        }
    }
    for size in HEAD_SIZES {
        let over = (1 << size) - 1;
        add(format!("target of 2^{size} bytes or more"), Condition::TargetOver(over));
        add(format!("values of fields of 2^{size} bytes or more"), Condition::FieldsOver(over));
    }
    for count in [5, 10, 20, 50, 100] {
        add(format!("{count} fields or more"), Condition::Fields(count));
    }
    let places = if is_edge {
        &[
            ("target", Place::Target),
            ("fields", Place::Fields),
            ("body", Place::Body),
            ("reply", Place::Reply),
        ][..]
    } else {
        &[("target", Place::Target), ("fields", Place::Fields), ("reference", Place::Reference)]
    };
    let texts = TEXTS.map(|(name, text)| (name, ByteClass::Text(text)));
    for (place_name, place) in places {
        for (name, class) in CLASSES.into_iter().chain(texts) {
            add(format!("{name} in the {place_name}"), Condition::Contains(*place, class));
        }
    }
    for n in ORDINALS {
        add(format!("exchange {n} of a connection"), Condition::Nth(Same::Connection, n, &Condition::Always));
        add(format!("exchange {n} since the start"), Condition::Nth(Same::Part, n, &Condition::Always));
        for outcome in outcomes(part) {
            let name = format!("after {n} times “{}”", outcome.name);
            add(name, Condition::Earlier(Same::Part, n, &outcome.when));
        }
    }
    for outcome in outcomes(part) {
        let name = format!("after “{}” on the same connection", outcome.name);
        add(name, Condition::Earlier(Same::Connection, 1, &outcome.when));
    }
    if is_edge {
        for n in [2, 5, 10, 20, 50, 100] {
            add(format!("{n} collections at the same time"), Condition::UnderWay(n));
        }
    }
    for ms in [100, 300, 1000, 6000, 31_000] {
        add(format!("connection idle for {ms} ms"), Condition::Idle(ms));
    }
    add("HTTP/1.0".to_owned(), Condition::Http10);
    add("HTTP/2".to_owned(), Condition::Http2);
    all
}
