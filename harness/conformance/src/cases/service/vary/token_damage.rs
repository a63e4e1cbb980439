use edgeproof_fixtures::credentials::READ_PREFIX;

use super::probe::Probe;
use crate::cases::ServiceCaseContext;
use crate::cases::service::Expected;

/// Letters of base64url, in the order of their values.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Texts at the end of a token that are not base64url: name, text.
const EXTENSIONS: [(&str, &str); 4] =
    [("a comma", ","), ("a semicolon", ";"), ("an encoded space", "%20"), ("an encoded NUL", "%00")];

/// Requests with damaged forms of the read token.
pub(super) fn probes(context: &ServiceCaseContext, unknown: &str) -> Vec<Probe> {
    let probe = |(name, token): (String, String)| {
        Probe::new(name, context.verdict(unknown).bearer(&token).draft(), Expected::Damaged)
    };
    let token = context.read_token();
    let extended = EXTENSIONS.iter().map(|(name, text)| {
        // Some decoders of base64 skip characters that they do not know.
        probe((format!("a token with {name} at its end"), format!("{token}{text}"))).should()
    });
    damaged(&token).into_iter().map(probe).chain(extended).collect()
}

/// Each part of a token is altered at its first, middle and last character, removed, emptied, doubled, and swapped with the
/// next one; the token is cut and extended.
fn damaged(token: &str) -> Vec<(String, String)> {
    // A token with other characters than ASCII does not fit into a header.
    if !token.is_ascii() {
        return Vec::new();
    }
    let rest = token.strip_prefix(READ_PREFIX).unwrap_or(token);
    let parts: Vec<&str> = rest.split('.').collect();
    let mut damaged: Vec<(String, String)> = Vec::new();
    let with = |index: usize, part: &str| {
        let mut parts = parts.clone();
        parts[index] = part;
        parts.join(".")
    };
    let count = parts.len();
    for (index, part) in parts.iter().enumerate() {
        let which = format!("part {} of {count}", index + 1);
        for (place, at) in places(part) {
            let altered = altered(part, at);
            damaged
                .push((format!("a token with another {place} character in {which}"), with(index, &altered)));
        }
        damaged.push((format!("a token whose {which} is empty"), with(index, "")));
        damaged.push((format!("a token whose {which} is doubled"), with(index, &format!("{part}{part}"))));
        if part.len() > 8 {
            damaged
                .push((format!("a token whose {which} lacks its first character"), with(index, &part[1..])));
            damaged.push((
                format!("a token whose {which} is one character longer"),
                with(index, &format!("{part}A")),
            ));
        }
        let missing: Vec<&str> =
            parts.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, part)| *part).collect();
        damaged.push((format!("a token without {which}"), missing.join(".")));
        if index + 1 < count && parts[index + 1] != *part {
            let mut swapped = parts.clone();
            swapped.swap(index, index + 1);
            damaged.push((format!("a token whose {which} stands after the next one"), swapped.join(".")));
        }
    }
    let cut = |length: usize| rest[..rest.len() - length.min(rest.len())].to_owned();
    for length in [1, 2, 3, 8, 40] {
        damaged.push((format!("a token without its last {length} characters"), cut(length)));
    }
    for (name, text) in [
        ("another part", ".e30"),
        ("a dot", "."),
        ("a letter", "A"),
        ("another token after a comma", ",service_read_none"),
        ("another word", " none"),
    ] {
        damaged.push((format!("a token with {name} at its end"), format!("{rest}{text}")));
    }
    damaged.push(("a token twice".into(), format!("{rest}{READ_PREFIX}{rest}")));
    damaged.push(("a token with its prefix twice".into(), format!("{READ_PREFIX}{rest}")));
    damaged.push((
        "a token with a space within".into(),
        format!("{} {}", &rest[..rest.len() / 2], &rest[rest.len() / 2..]),
    ));
    // The letters of a token without parts can stand for hexadecimal digits.
    if count > 2 {
        damaged.push(("a token in capitals".into(), rest.to_uppercase()));
        damaged.push(("a token in small letters".into(), rest.to_lowercase()));
        damaged.push(("a token backwards".into(), rest.chars().rev().collect()));
    }
    // HTTP removes white space around a field's value.
    damaged.retain(|(_, text)| text.trim() != rest);
    damaged.into_iter().map(|(name, text)| (name, format!("{READ_PREFIX}{text}"))).collect()
}

/// First, middle and last position.
fn places(part: &str) -> Vec<(&'static str, usize)> {
    match part.len() {
        0 => Vec::new(),
        1 => vec![("only", 0)],
        2 => vec![("first", 0), ("last", 1)],
        length => vec![("first", 0), ("middle", length / 2), ("last", length - 1)],
    }
}

/// Another character at a position. In base64 it differs in the highest bit, which even the last character needs.
fn altered(part: &str, at: usize) -> String {
    with_bit(part, at, 32)
}

/// A part of a token with another letter of base64url at a position, whose value differs in these bits.
pub(in crate::cases) fn with_bit(part: &str, at: usize, bits: usize) -> String {
    let mut bytes = part.as_bytes().to_vec();
    let value = ALPHABET.iter().position(|letter| *letter == bytes[at]);
    bytes[at] = value.map_or(b'A', |value| ALPHABET[value ^ bits]);
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use edgeproof_fixtures::credentials::{Credentials, MintOptions, ReadTokenForm, check_read_token};
    use rstest::rstest;

    use super::*;

    #[test]
    fn mock_refuses_each_damaged_token() {
        let credentials = Credentials::mint(&MintOptions::default()).unwrap();
        let now = std::time::SystemTime::now();
        let check = |token: &str| {
            let value = format!("Bearer {token}");
            check_read_token(Some(&value), credentials.keys(), credentials.revocations(), now).is_ok()
        };
        let token = credentials.read_token(ReadTokenForm::Valid);
        assert!(check(&token));
        let damaged = damaged(&token);
        assert!(damaged.len() > 40, "{}", damaged.len());
        let accepted: Vec<_> = damaged.iter().filter(|(_, token)| check(token)).collect();
        assert!(accepted.is_empty(), "{accepted:?}");
    }

    #[rstest]
    #[case("service_read_")]
    #[case("service_read_a")]
    #[case("service_read_9f86d081884c7d659a2feaa0c55ad015")]
    #[case("service_read_eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJlLW9mLWl0")]
    #[case("service_read_ä.ö.ü")]
    #[case("")]
    fn damaged_tokens_differ_from_their_token(#[case] token: &str) {
        let damaged = damaged(token);
        assert!(damaged.iter().all(|(_, other)| other != token && other.is_ascii()));
        let names: BTreeSet<_> = damaged.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), damaged.len());
    }
}
