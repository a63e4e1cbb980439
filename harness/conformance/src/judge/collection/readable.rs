use std::io::Read;

use edgeproof_reports::difference::PagePlace;
use flate2::read::{DeflateDecoder, GzDecoder, ZlibDecoder};
use serde_json::Value;

use super::encodings::{base64, hex, list_of_bytes, words};
use crate::collector::Canaries;

/// Depth of nested encodings.
const DEPTH: usize = 4;
/// Longest inflated text (bytes).
const INFLATED: u64 = 4 * 1024 * 1024;
/// Shortest base64 text worth decoding (characters).
const SHORTEST: usize = 24;

/// A body in all forms that anyone can read: as it is, its JSON texts, what their base64 decodes to, and that
/// decompressed; nested to some depth.
pub(crate) fn decoded_forms(body: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![body.to_vec()];
    let mut next = 0;
    for _ in 0..DEPTH {
        let end = forms.len();
        for at in next..end {
            let found = decoded(&forms[at]);
            forms.extend(found);
        }
        if forms.len() == end {
            break;
        }
        next = end;
    }
    forms
}

/// Whether a form contains this text in a disguise that is no seal: reversed, as UTF-16, or with the same number combined with
/// each byte, by addition or exclusive or.
pub(crate) fn is_disguised(form: &[u8], text: &str) -> bool {
    let forward = text.as_bytes();
    let backward: Vec<u8> = forward.iter().rev().copied().collect();
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    // Up to the last byte, which is zero, both byte orders are the same.
    let wide = &wide[..wide.len().saturating_sub(1)];
    let steps = |bytes: &[u8], step: fn(u8, u8) -> u8| -> Vec<u8> {
        bytes.windows(2).map(|pair| step(pair[0], pair[1])).collect()
    };
    let contains =
        |form: &[u8], part: &[u8]| !part.is_empty() && form.windows(part.len()).any(|window| window == part);
    contains(form, wide)
        || [forward, &backward].into_iter().any(|bytes| {
            // The difference of neighbours does not depend on the number. No difference at all is one of any text.
            let step: [fn(u8, u8) -> u8; 2] = [|one, next| one ^ next, |one, next| next.wrapping_sub(one)];
            step.into_iter().any(|step| {
                let part = steps(bytes, step);
                part.iter().any(|step| *step != 0) && contains(&steps(form, step), &part)
            })
        })
}

/// Places of a page's data that anyone can read in these forms of a request.
pub(crate) fn places_in(canaries: &Canaries, forms: &[Vec<u8>]) -> Vec<PagePlace> {
    let mut found: Vec<PagePlace> = Vec::new();
    for form in forms {
        for place in canaries.found_in(form) {
            if !found.contains(&place) {
                found.push(place);
            }
        }
    }
    found
}

fn decoded(form: &[u8]) -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = inflated(form).into_iter().collect();
    let Ok(text) = std::str::from_utf8(form) else { return found };
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        let mut texts = Vec::new();
        collect(&value, &mut texts);
        found.extend(texts.into_iter().map(String::into_bytes).filter(|text| text != form));
        collect_bytes(&value, &mut found);
    }
    for word in words(text, SHORTEST) {
        found.extend(hex(word).into_iter().chain(base64(word)));
    }
    found
}

/// All texts of a JSON value, names included.
fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(members) => {
            for (name, member) in members {
                texts.push(name.clone());
                collect(member, texts);
            }
        }
        _ => {}
    }
}

/// All lists of bytes in a JSON value.
fn collect_bytes(value: &Value, found: &mut Vec<Vec<u8>>) {
    match value {
        Value::Array(items) => match list_of_bytes(items) {
            Some(bytes) => found.push(bytes),
            None => items.iter().for_each(|item| collect_bytes(item, found)),
        },
        Value::Object(members) => members.values().for_each(|member| collect_bytes(member, found)),
        _ => {}
    }
}

/// The bytes decompressed. None: they are not compressed.
fn inflated(bytes: &[u8]) -> Option<Vec<u8>> {
    fn read(reader: impl Read) -> Option<Vec<u8>> {
        let mut inflated = Vec::new();
        reader.take(INFLATED).read_to_end(&mut inflated).ok()?;
        (!inflated.is_empty()).then_some(inflated)
    }
    match bytes {
        [] => None,
        [0x1f, 0x8b, ..] => read(GzDecoder::new(bytes)),
        [0x78, ..] => read(ZlibDecoder::new(bytes)),
        // Without a header: text hardly ever inflates without an error.
        _ => read(DeflateDecoder::new(bytes)),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder};
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    const SECRET: &str = "edgeproof-q0000001-reference";

    fn deflated(text: &str) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn gzipped(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn hex_of(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
    }

    #[rstest]
    #[case::clear(SECRET.bytes().collect())]
    #[case::reversed(SECRET.bytes().rev().collect())]
    #[case::wide(SECRET.encode_utf16().flat_map(u16::to_le_bytes).collect())]
    #[case::wide_of_other_order(SECRET.encode_utf16().flat_map(u16::to_be_bytes).collect())]
    #[case::xor(SECRET.bytes().map(|byte| byte ^ 0xa5).collect())]
    #[case::shifted(SECRET.bytes().map(|byte| byte.wrapping_add(3)).collect())]
    #[case::shifted_backward(SECRET.bytes().rev().map(|byte| byte.wrapping_sub(47)).collect())]
    fn disguised_text_is_found(#[case] form: Vec<u8>) {
        let form = [&b"before "[..], &form, b" after"].concat();
        assert!(is_disguised(&form, SECRET));
        assert!(!is_disguised(&form[..form.len() / 2], SECRET));
        assert!(!is_disguised(&form, "edgeproof-q0000002-reference"));
    }

    #[rstest]
    #[case::clear(SECRET.to_owned())]
    #[case::json(json!({ "a": [SECRET] }).to_string())]
    #[case::json_in_json(json!({ "a": json!({ "b": SECRET }).to_string() }).to_string())]
    #[case::escaped(format!("{{\"a\":\"{}\"}}", SECRET.replace('-', "\\u002d")))]
    #[case::base64(json!({ "a": STANDARD.encode(SECRET) }).to_string())]
    #[case::base64url_of_json(json!({ "a": URL_SAFE_NO_PAD.encode(json!({ "b": SECRET }).to_string()) }).to_string())]
    #[case::base64_twice(STANDARD.encode(STANDARD.encode(SECRET)))]
    #[case::gzip(json!({ "a": STANDARD.encode(gzipped(SECRET)) }).to_string())]
    #[case::hex_of_base64(hex_of(STANDARD.encode(SECRET).as_bytes()))]
    #[case::list(json!({ "a": [SECRET.as_bytes()] }).to_string())]
    #[case::deflate(json!({ "a": URL_SAFE_NO_PAD.encode(deflated(SECRET)) }).to_string())]
    fn readable_text_is_found_in_any_encoding(#[case] body: String) {
        let found = decoded_forms(body.as_bytes());
        let contains = |form: &Vec<u8>| form.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(found.iter().any(contains), "{body}");
    }
}
