use serde_json::Value;

use super::encodings::{base64, hex, list_of_bytes, words};

/// Shortest text worth decoding (characters).
const SHORTEST: usize = 128;
/// Depth of nested encodings.
const DEPTH: usize = 4;
/// Fewest different bytes that say anything about two ciphertexts.
const FEWEST: usize = 96;
/// Share of them (percent) whose difference has to look like one of texts. Of ciphertexts with own key streams it is half.
const SHARE: usize = 85;
/// Share of them (percent) that are no letters in a ciphertext. In a ciphertext it is half.
const UNREADABLE: usize = 30;

/// Binary data of a body, each with its place.
type Parts = Vec<(String, Vec<u8>)>;

/// The difference of two bodies whose ciphertexts share a key stream. Texts differ in their low seven bits only, so that the
/// difference of such ciphertexts has no other bits either. Needs no knowledge of the format: what is constant is equal, and
/// what is random has all bits.
pub(crate) fn shared_stream(bodies: &[impl AsRef<[u8]>]) -> Option<Vec<u8>> {
    let all: Vec<Parts> = bodies.iter().map(|body| parts(body.as_ref())).collect();
    let pairs = all.iter().enumerate().flat_map(|(at, one)| all[..at].iter().map(move |other| (one, other)));
    pairs.into_iter().find_map(|(one, other)| {
        one.iter().find_map(|(place, bytes)| {
            let (_, others) = other.iter().find(|(same, _)| same == place)?;
            difference_of_texts(bytes, others)
        })
    })
}

fn difference_of_texts(one: &[u8], other: &[u8]) -> Option<Vec<u8>> {
    let pairs = || one.iter().zip(other).filter(|(one, other)| one != other);
    let different = pairs().count();
    let of_texts = pairs().filter(|(one, other)| (**one ^ **other).is_ascii()).count();
    // Bytes of a ciphertext are no letters. What is a text within binary data may be encoded.
    let unreadable = pairs().filter(|(one, _)| !one.is_ascii()).count();
    let is_shared = different >= FEWEST
        && of_texts * 100 >= different * SHARE
        && unreadable * 100 >= different * UNREADABLE;
    is_shared.then(|| one.iter().zip(other).map(|(one, other)| one ^ other).collect())
}

/// Binary data in a body: texts that decode to something else than a text, and lists of bytes.
fn parts(body: &[u8]) -> Parts {
    let mut found = Vec::new();
    add(body, "", DEPTH, &mut found);
    found
}

fn add(bytes: &[u8], place: &str, depth: usize, found: &mut Parts) {
    if depth == 0 {
        return;
    }
    // A text has to be decoded first, however often it is encoded.
    let Some(text) = std::str::from_utf8(bytes).ok().filter(|text| text.is_ascii()) else {
        return found.push((place.to_owned(), bytes.to_vec()));
    };
    match serde_json::from_str::<Value>(text) {
        Ok(value) if !value.is_number() => add_value(&value, place, depth, found),
        _ => add_words(text, place, depth, found),
    }
}

fn add_value(value: &Value, place: &str, depth: usize, found: &mut Parts) {
    match value {
        Value::String(text) => add_words(text, place, depth, found),
        Value::Array(items) => match list_of_bytes(items) {
            Some(bytes) => add(&bytes, place, depth - 1, found),
            None => {
                for (at, item) in items.iter().enumerate() {
                    add_value(item, &format!("{place}/{at}"), depth, found);
                }
            }
        },
        Value::Object(members) => {
            for (name, member) in members {
                add_value(member, &format!("{place}/{name}"), depth, found);
            }
        }
        _ => {}
    }
}

fn add_words(text: &str, place: &str, depth: usize, found: &mut Parts) {
    for (at, word) in words(text, SHORTEST).enumerate() {
        if let Some(bytes) = hex(word).or_else(|| base64(word)) {
            add(&bytes, &format!("{place}#{at}"), depth - 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use rand::RngExt;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn random<const LENGTH: usize>() -> Vec<u8> {
        rand::rng().random::<[u8; LENGTH]>().to_vec()
    }

    /// Contents of a collection with a reference of this length.
    fn contents(length: usize) -> Vec<u8> {
        let nonce = URL_SAFE_NO_PAD.encode(random::<16>());
        let agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)";
        let signature = URL_SAFE_NO_PAD.encode(random::<64>());
        let contents =
            json!({ "ref": "r".repeat(length), "n": nonce, "m": [agent, 7, agent], "s": signature });
        contents.to_string().into_bytes()
    }

    fn xor(bytes: &[u8], stream: &[u8]) -> Vec<u8> {
        bytes.iter().zip(stream).map(|(one, other)| one ^ other).collect()
    }

    fn in_members(ciphertext: &[u8]) -> String {
        json!({ "kid": "k".repeat(200), "enc": STANDARD.encode(random::<32>()), "c": URL_SAFE_NO_PAD.encode(ciphertext) })
            .to_string()
    }

    fn after_header(ciphertext: &[u8]) -> String {
        let blob =
            [&b"v2 certificate "[..], &[7; 300], &random::<32>(), ciphertext, &random::<16>()].concat();
        json!([STANDARD.encode(blob)]).to_string()
    }

    fn encoded_twice(ciphertext: &[u8]) -> String {
        let inner = json!({ "iv": STANDARD.encode(random::<12>()), "c": STANDARD.encode(ciphertext) });
        json!({ "p": STANDARD.encode(inner.to_string()) }).to_string()
    }

    fn in_digits(ciphertext: &[u8]) -> String {
        let digits: Vec<String> = ciphertext.iter().map(|byte| format!("{byte:02x}")).collect();
        json!({ "c": digits.concat() }).to_string()
    }

    fn as_numbers(ciphertext: &[u8]) -> String {
        json!({ "c": ciphertext, "time": 1_790_000_000 }).to_string()
    }

    fn compact(ciphertext: &[u8]) -> String {
        let header = STANDARD.encode(json!({ "alg": "ECDH-ES", "kid": "k".repeat(120) }).to_string());
        json!(format!(
            "{header}..{}.{}",
            URL_SAFE_NO_PAD.encode(random::<12>()),
            URL_SAFE_NO_PAD.encode(ciphertext)
        ))
        .to_string()
    }

    fn encoded_in_binary(ciphertext: &[u8]) -> String {
        let text = STANDARD.encode(ciphertext);
        let blob = [&[0xa2, 0x78, 0xff][..], text.as_bytes(), &[0x82], &random::<32>()].concat();
        json!({ "cbor": STANDARD.encode(blob) }).to_string()
    }

    #[test]
    fn texts_within_binary_data_are_no_ciphertexts() {
        let own: Vec<String> = [9, 9, 30, 9]
            .map(|length| encoded_in_binary(&xor(&contents(length), &random::<1024>())))
            .to_vec();
        assert_eq!(shared_stream(&own), None);
    }

    #[rstest]
    #[case::in_members(in_members)]
    #[case::after_header(after_header)]
    #[case::encoded_twice(encoded_twice)]
    #[case::in_digits(in_digits)]
    #[case::as_numbers(as_numbers)]
    #[case::compact(compact)]
    fn key_stream_of_two_collections_is_found_in_any_format(#[case] format: fn(&[u8]) -> String) {
        let stream = random::<1024>();
        let shared: Vec<String> = [9, 9, 30].map(|length| format(&xor(&contents(length), &stream))).to_vec();
        assert!(shared_stream(&shared).is_some());
        let own: Vec<String> =
            [9, 9, 30, 9, 50, 9].map(|length| format(&xor(&contents(length), &random::<1024>()))).to_vec();
        assert_eq!(shared_stream(&own), None);
        let texts: Vec<String> = [9, 9, 30].map(|length| format(&contents(length))).to_vec();
        assert_eq!(shared_stream(&texts), None, "others judge what is readable");
    }
}
