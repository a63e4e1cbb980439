use edgeproof_fixtures::register::{self, Message};
use edgeproof_fixtures::spec::PartName;

use crate::behaviour::{ByteClass, Condition, Place, Same};

/// Why no exchange of a default run has to meet a condition of a part.
pub(super) fn excluded(part: PartName, condition: &Condition) -> Option<&'static str> {
    let is_edge = part == PartName::Edge;
    match *condition {
        Condition::Has(field) => register::acted_on(field, Message::Request),
        Condition::ReplyHas(field) => register::acted_on(field, Message::Reply),
        Condition::ReplyIs(201..=299, _) => Some("open: statement.other-success"),
        Condition::ReplyIs(305, _) => Some("deprecated (RFC 9110 §15.4.6)"),
        Condition::BodyOver(size) if size >= 1 << 20 => Some("the interface does not show the longest body"),
        Condition::TargetOver(size) if !is_edge && size >= 1 << 11 => {
            Some("the interface does not show the longest reference")
        }
        Condition::TargetOver(size) if size >= 1 << 12 => Some("8,000 bytes are enough (RFC 9110 §4.1)"),
        Condition::Fields(50..) => Some("some servers take fifty fields"),
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
        Condition::Contains(Place::Reference, ByteClass::NotUtf8) => Some("a reference is text"),
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
    matches!(outcome, Condition::All([Condition::Relayed, Condition::ReplyIs(300, 399)]))
}

fn is_broken(outcome: &Condition) -> bool {
    *outcome == Condition::Broken
}
