use std::collections::BTreeSet;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use strum::Display;

/// How a parser and a serialiser changed a body on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Display)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum JsonChange {
    WhiteSpace,
    KeyOrder,
    Numbers,
    Escapes,
    DuplicateKeys,
    Members,
    Values,
}

/// Nested arrays and objects that are compared (maximum).
const DEEPEST: usize = 64;

/// The kinds of difference between two JSON texts. Empty: one is not JSON, or they are equal.
pub(super) fn json_changes(sent: &[u8], arrived: &[u8]) -> Vec<JsonChange> {
    let text = |bytes| std::str::from_utf8(bytes).ok();
    let (Some(sent), Some(arrived)) = (text(sent).and_then(parse), text(arrived).and_then(parse)) else {
        return Vec::new();
    };
    let mut changes = BTreeSet::new();
    compare(&sent.node, &arrived.node, &mut changes);
    // With other members the white space between them goes as well.
    let has_other_members = changes.iter().any(|change| *change >= JsonChange::DuplicateKeys);
    let distinct =
        |parsed: &Parsed<'_>| parsed.spacing.iter().copied().map(str::to_owned).collect::<BTreeSet<_>>();
    let is_respaced = sent.spacing != arrived.spacing;
    if is_respaced && (!has_other_members || distinct(&sent) != distinct(&arrived)) {
        changes.insert(JsonChange::WhiteSpace);
    }
    changes.into_iter().collect()
}

/// Names that an object of a JSON text has more than once, as JSON pointers (RFC 6901). Empty: none, or no JSON.
pub(super) fn doubled_names(text: &[u8]) -> Vec<String> {
    let mut doubled = BTreeSet::new();
    if let Some(parsed) = std::str::from_utf8(text).ok().and_then(parse) {
        collect_doubled(&parsed.node, "", &mut doubled);
    }
    doubled.into_iter().collect()
}

fn collect_doubled(node: &Node<'_>, place: &str, doubled: &mut BTreeSet<String>) {
    match node {
        Node::Object(members) => {
            let mut seen = BTreeSet::new();
            for (name, member) in members {
                let name = decoded(name).unwrap_or_default().replace('~', "~0").replace('/', "~1");
                let place = format!("{place}/{name}");
                collect_doubled(member, &place, doubled);
                if !seen.insert(name) {
                    doubled.insert(place);
                }
            }
        }
        Node::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect_doubled(item, &format!("{place}/{index}"), doubled);
            }
        }
        Node::String(_) | Node::Number(_) | Node::Word(_) => {}
    }
}

/// A value with its parts as written.
#[derive(Debug, PartialEq)]
enum Node<'t> {
    Object(Vec<(&'t str, Node<'t>)>),
    Array(Vec<Node<'t>>),
    String(&'t str),
    Number(&'t str),
    Word(&'t str),
}

/// A whole text.
struct Parsed<'t> {
    node: Node<'t>,
    /// The white space between tokens, in its order.
    spacing: Vec<&'t str>,
}

fn compare(sent: &Node<'_>, arrived: &Node<'_>, changes: &mut BTreeSet<JsonChange>) {
    let change = match (sent, arrived) {
        (Node::Object(sent), Node::Object(arrived)) => return compare_objects(sent, arrived, changes),
        (Node::Array(sent), Node::Array(arrived)) if sent.len() == arrived.len() => {
            for (sent, arrived) in sent.iter().zip(arrived) {
                compare(sent, arrived, changes);
            }
            return;
        }
        _ if sent == arrived => return,
        (Node::String(sent), Node::String(arrived)) if decoded(sent) == decoded(arrived) => {
            JsonChange::Escapes
        }
        // Large numbers become strings in some libraries.
        (Node::Number(_), Node::Number(_) | Node::String(_)) => JsonChange::Numbers,
        _ => JsonChange::Values,
    };
    changes.insert(change);
}

fn compare_objects(
    sent: &[(&str, Node<'_>)],
    arrived: &[(&str, Node<'_>)],
    changes: &mut BTreeSet<JsonChange>,
) {
    let names =
        |members: &[(&str, Node<'_>)]| members.iter().map(|(name, _)| decoded(name)).collect::<Vec<_>>();
    let (own, others) = (names(sent), names(arrived));
    let distinct = |names: &[Option<String>]| names.iter().cloned().collect::<BTreeSet<_>>();
    let (own_names, other_names) = (distinct(&own), distinct(&others));
    if own_names != other_names {
        changes.insert(JsonChange::Members);
    } else if own.len() > others.len() {
        changes.insert(JsonChange::DuplicateKeys);
    } else if own != others {
        changes.insert(JsonChange::KeyOrder);
    }
    let mut used = vec![false; arrived.len()];
    // The last one of equal names stays.
    for (at, name) in own.iter().enumerate().rev() {
        let found = (0..others.len()).rev().find(|index| !used[*index] && others[*index] == *name);
        let Some(found) = found else { continue };
        used[found] = true;
        if sent[at].0 != arrived[found].0 {
            changes.insert(JsonChange::Escapes);
        }
        compare(&sent[at].1, &arrived[found].1, changes);
    }
}

fn decoded(string: &str) -> Option<String> {
    serde_json::from_str(string).ok()
}

fn parse(text: &str) -> Option<Parsed<'_>> {
    let spacing = spacing(text)?;
    Some(Parsed { node: node(serde_json::from_str(text).ok()?)?, spacing })
}

/// The white space between tokens. None: too deep nesting.
fn spacing(text: &str) -> Option<Vec<&str>> {
    let (mut spacing, mut depth, mut in_string, mut at) = (Vec::new(), 0_usize, false, 0);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        let begin = at;
        at += 1;
        match byte {
            b'"' => in_string = !in_string,
            b'\\' if in_string => at += 1,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += bytes[at..].iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
                spacing.push(&text[begin..at]);
            }
            _ => {}
        }
        if depth > DEEPEST {
            return None;
        }
    }
    Some(spacing)
}

fn node(value: &RawValue) -> Option<Node<'_>> {
    let text = value.get();
    Some(match text.as_bytes().first()? {
        b'{' => {
            let Members(members) = serde_json::from_str(text).ok()?;
            let members = members.into_iter().map(|(name, value)| Some((name, node(value)?)));
            Node::Object(members.collect::<Option<_>>()?)
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            Node::Array(items.into_iter().map(node).collect::<Option<_>>()?)
        }
        b'"' => Node::String(text),
        b'-' | b'0'..=b'9' => Node::Number(text),
        _ => Node::Word(text),
    })
}

/// The members of an object as written, with equal names.
struct Members<'t>(Vec<(&'t str, &'t RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                    members.push((name.get(), value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none(r#"{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}"#, &[])]
    #[case::outer(r#"{"a":1,"b":2,"a":1,"a":3}"#, &["/a"])]
    #[case::inner(r#"{"keys":[{"x":1},{"kid":"a","kid":"b"}]}"#, &["/keys/1/kid"])]
    #[case::escaped(r#"{"a":1,"\u0061":2}"#, &["/a"])]
    #[case::in_a_doubled_one(r#"{"a":{"b":1,"b":2},"a":1}"#, &["/a", "/a/b"])]
    #[case::other_case(r#"{"a":1,"A":2}"#, &[])]
    #[case::no_json("{a:1,a:2}", &[])]
    fn doubled_names_are_found_at_any_depth(#[case] text: &str, #[case] expected: &[&str]) {
        assert_eq!(doubled_names(text.as_bytes()), expected);
    }

    #[rstest]
    #[case::equal(r#"{"a":1}"#, r#"{"a":1}"#, "")]
    #[case::compact("{\n  \"a\": 1\n}", r#"{"a":1}"#, "white-space")]
    #[case::pretty(r#"{"a":1}"#, r#"{"a": 1}"#, "white-space")]
    #[case::final_newline("{}\n", "{}", "white-space")]
    #[case::sorted(r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#, "key-order")]
    #[case::sorted_within(r#"[{"b":1,"a":{"d":1,"c":2}}]"#, r#"[{"b":1,"a":{"c":2,"d":1}}]"#, "key-order")]
    #[case::large_number(r#"{"n":9007199254740993}"#, r#"{"n":9007199254740992}"#, "numbers")]
    #[case::fraction(r#"{"n":1.0}"#, r#"{"n":1}"#, "numbers")]
    #[case::exponent(r#"{"n":1e3}"#, r#"{"n":1000}"#, "numbers")]
    #[case::number_as_string(r#"{"n":9007199254740993}"#, r#"{"n":"9007199254740993"}"#, "numbers")]
    #[case::escaped(r#"{"s":"é"}"#, r#"{"s":"\u00e9"}"#, "escapes")]
    #[case::unescaped(r#"{"s":"\/\u00e9"}"#, r#"{"s":"/é"}"#, "escapes")]
    #[case::escaped_name(r#"{"é":1}"#, r#"{"\u00e9":1}"#, "escapes")]
    #[case::duplicate(r#"{"a":1,"a":2}"#, r#"{"a":2}"#, "duplicate-keys")]
    #[case::added(r#"{"a":1}"#, r#"{"a":1,"b":2}"#, "members")]
    #[case::removed(r#"{"a":1,"b":null}"#, r#"{"a":1}"#, "members")]
    #[case::other_value(r#"{"a":"x"}"#, r#"{"a":"y"}"#, "values")]
    #[case::several(
        "{ \"b\": 1.0, \"a\": \"\\u00e9\" }",
        r#"{"a":"é","b":1.0}"#,
        "white-space, key-order, escapes"
    )]
    #[case::not_json("{", "{}", "")]
    #[case::text("a=b", r#"{"a":"b"}"#, "")]
    #[case::cut_escape("\"\\", "\"\\\"", "")]
    fn kinds_of_change_are_named(#[case] sent: &str, #[case] arrived: &str, #[case] expected: &str) {
        let changes = json_changes(sent.as_bytes(), arrived.as_bytes());
        let names: Vec<String> = changes.iter().map(ToString::to_string).collect();
        assert_eq!(names.join(", "), expected);
    }

    #[test]
    fn deep_nesting_ends_the_comparison() {
        let deep = "[".repeat(100_000);
        assert_eq!(json_changes(deep.as_bytes(), b"[]"), []);
    }

    proptest! {
        #[test]
        fn equal_bodies_have_no_change(body in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(json_changes(&body, &body).is_empty());
        }

        #[test]
        fn any_two_bodies_are_compared(sent in "[\\[\\]{}\",:0-9a-z\\\\ é]{0,24}", arrived in "[\\[\\]{}\",:0-9a-z\\\\ é]{0,24}") {
            json_changes(sent.as_bytes(), arrived.as_bytes());
        }
    }
}
