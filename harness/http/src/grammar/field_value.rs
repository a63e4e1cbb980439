//! Values of the header fields that recipients act on, by the definitions of RFC 9110 and RFC 9111. What all recipients
//! read alike passes: empty elements of a list, an empty parameter.

use http::HeaderMap;

use super::head::is_token;
use super::{MessageRule, Violation, Violations};

/// Violations in the header fields of an answer, of any version of HTTP. Those of a request are not judged: a relay passes the
/// values of a page on as they are.
pub fn field_violations(headers: &HeaderMap) -> Vec<Violation> {
    let mut found = Violations::default();
    for name in headers.keys() {
        let values = headers.get_all(name);
        if ONCE.contains(&name.as_str()) && values.iter().count() > 1 {
            found.add(MessageRule::RepeatedField, name.as_str().as_bytes());
        }
        if !values.iter().all(|value| is_permitted(name.as_str(), value.as_bytes())) {
            found.add(MessageRule::FieldValue, name.as_str().as_bytes());
        }
    }
    found.take()
}

/// Fields that can stand once only (RFC 9110 §5.3). Those of the framing have rules of their own.
const ONCE: [&str; 7] = ["age", "content-type", "date", "etag", "last-modified", "location", "retry-after"];

/// Whether the definition of a field permits a value. Fields without a rule here permit any.
fn is_permitted(name: &str, value: &[u8]) -> bool {
    rule(name).is_none_or(|rule| rule(&String::from_utf8_lossy(value)))
}

fn rule(name: &str) -> Option<fn(&str) -> bool> {
    Some(match name {
        "date" | "last-modified" => is_date,
        "age" => is_seconds,
        "retry-after" => |value| is_seconds(value) || is_date(value),
        "etag" => is_entity_tag,
        "content-type" => is_media_type,
        "vary" | "allow" => |value| elements(value).all(|element| is_token(element.as_bytes())),
        "cache-control" => {
            |value| parts(value, ',').is_some_and(|parts| parts.iter().all(|part| is_directive(part)))
        }
        "location" => |value| !value.is_empty() && value.bytes().all(is_of_uri),
        _ => return None,
    })
}

/// `Thu, 26 Nov 2026 23:26:08 GMT`, the only form that a sender writes (RFC 9110 §5.6.7).
fn is_date(value: &str) -> bool {
    const PATTERN: &[u8] = b"Aaa, 00 Aaa 0000 00:00:00 GMT";
    let fits = |(byte, pattern): (u8, &u8)| match pattern {
        b'0' => byte.is_ascii_digit(),
        b'A' => byte.is_ascii_uppercase(),
        b'a' => byte.is_ascii_lowercase(),
        other => byte == *other,
    };
    value.len() == PATTERN.len()
        && value.bytes().zip(PATTERN).all(|(byte, pattern)| fits((byte, pattern)))
        && httpdate::parse_http_date(value).is_ok()
}

fn is_seconds(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())
}

/// RFC 9110 §8.8.3.
fn is_entity_tag(value: &str) -> bool {
    let opaque = value.strip_prefix("W/").unwrap_or(value);
    let inner = opaque.strip_prefix('"').and_then(|opaque| opaque.strip_suffix('"'));
    inner.is_some_and(|inner| {
        inner.bytes().all(|byte| byte == 0x21 || (0x23..=0xff).contains(&byte) && byte != 0x7f)
    })
}

/// RFC 9110 §8.3.1.
fn is_media_type(value: &str) -> bool {
    let Some(parts) = parts(value, ';') else { return false };
    let mut parts = parts.into_iter();
    let is_type = |text: &str| {
        text.split_once('/')
            .is_some_and(|(kind, subtype)| is_token(kind.as_bytes()) && is_token(subtype.as_bytes()))
    };
    parts.next().is_some_and(is_type) && parts.all(|part| part.is_empty() || is_parameter(part))
}

/// A name with a value (RFC 9110 §5.6.6).
fn is_parameter(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, value)| is_token(name.as_bytes()) && is_word(value))
}

/// A name, also with a value (RFC 9111 §5.2).
fn is_directive(text: &str) -> bool {
    text.is_empty() || is_token(text.as_bytes()) || is_parameter(text)
}

/// A token or a quoted string.
fn is_word(text: &str) -> bool {
    is_token(text.as_bytes()) || (text.len() > 1 && text.starts_with('"') && text.ends_with('"'))
}

/// The elements of a list of tokens.
fn elements(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|element| !element.is_empty())
}

/// The parts between separators that stand in no quoted string. None: a quoted string has no end.
fn parts(value: &str, separator: char) -> Option<Vec<&str>> {
    let (mut parts, mut begins, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, letter) in value.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if letter == separator && !quoted => {
                parts.push(value[begins..at].trim());
                begins = at + 1;
            }
            _ => {}
        }
    }
    parts.push(value[begins..].trim());
    (!quoted).then_some(parts)
}

/// Letters of a URI reference (RFC 3986 §2). Letters beyond ASCII are common, and all recipients encode them.
fn is_of_uri(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("date", "Thu, 26 Nov 2026 23:26:08 GMT", true)]
    #[case("date", "Thu, 26 Nov 2026 23:26:08 UTC", false)]
    #[case("date", "2026-11-26T23:26:08Z", false)]
    #[case("date", "Thursday, 26-Nov-26 23:26:08 GMT", false)]
    #[case("last-modified", "Thu, 32 Nov 2026 23:26:08 GMT", false)]
    #[case("retry-after", "30", true)]
    #[case("retry-after", "Thu, 26 Nov 2026 23:26:08 GMT", true)]
    #[case("retry-after", "30s", false)]
    #[case("age", "-1", false)]
    #[case("etag", "\"a b\"", false)]
    #[case("etag", "W/\"a\"", true)]
    #[case("etag", "\"\"", true)]
    #[case("etag", "abc", false)]
    #[case("content-type", "application/json", true)]
    #[case("content-type", "application/json; charset=\"utf-8\"", true)]
    #[case("content-type", "application/json;", true)]
    #[case("content-type", "application/problem+json;profile=\"a;b\"", true)]
    #[case("content-type", "json", false)]
    #[case("content-type", "application/json charset=utf-8", false)]
    #[case("content-type", "application/json, text/html", false)]
    #[case("content-type", "application/json; charset", false)]
    #[case("vary", "Origin, Accept-Encoding,", true)]
    #[case("vary", "*", true)]
    #[case("vary", "Origin Accept", false)]
    #[case("allow", "", true)]
    #[case("allow", "POST,OPTIONS", true)]
    #[case("allow", "[\"POST\"]", false)]
    #[case("cache-control", "no-store, max-age=300, private=\"a, b\"", true)]
    #[case("cache-control", "max-age: 300", false)]
    #[case("cache-control", "no-store; max-age=300", false)]
    #[case("location", "/a?b#c", true)]
    #[case("location", "/a b", false)]
    #[case("location", "", false)]
    #[case("x-any", "any \u{7}", true)]
    fn permits_what_the_definition_permits(#[case] name: &str, #[case] value: &str, #[case] expected: bool) {
        assert_eq!(is_permitted(name, value.as_bytes()), expected);
    }

    #[rstest]
    #[case::right(&[("date", "Thu, 26 Nov 2026 23:26:08 GMT")], &[])]
    #[case::value(&[("date", "now")], &[MessageRule::FieldValue])]
    #[case::twice(&[("age", "1"), ("age", "1")], &[MessageRule::RepeatedField])]
    #[case::list(&[("set-cookie", "a"), ("set-cookie", "b")], &[])]
    #[case::two_fields(&[("age", "x"), ("etag", "y")], &[MessageRule::FieldValue])]
    fn violations_of_an_answer(
        #[case] fields: &[(&'static str, &'static str)],
        #[case] expected: &[MessageRule],
    ) {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, value.parse().unwrap());
        }
        let rules: Vec<_> = field_violations(&headers).iter().map(|violation| violation.rule).collect();
        assert_eq!(rules, expected);
    }

    proptest! {
        #[test]
        fn no_value_stops_the_rules(value in prop::collection::vec(any::<u8>(), 0..40)) {
            for name in ["date", "age", "retry-after", "etag", "content-type", "vary", "cache-control", "location"] {
                is_permitted(name, &value);
            }
        }

        #[test]
        fn any_time_makes_a_date(seconds in 0_u64..253_402_300_800) {
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            prop_assert!(is_permitted("date", httpdate::fmt_http_date(time).as_bytes()));
        }
    }
}
