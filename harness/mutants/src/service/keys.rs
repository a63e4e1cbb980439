//! Key sets with wrong keys, and wrong answers with the key set.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::prelude::*;
use crate::behaviour::gzipped;

const KEY_SET: Condition = Endpoint(ServiceEndpoint::KeySet);
const NOT_MODIFIED: Change = Each(&[Status(304), Content("")]);
const PUBLISH_OTHERS: Change =
    By(|seen, answer| Answer { body: seen.setup.other_keys.clone().into(), ..answer });

pub(super) const MUTANTS: &[Behaviour<ServiceEffect>] = &[
    mutant("publishes-private-keys", "Publishes private keys.")
        .breaks("keys.public-only", "keys-private")
        .also_late()
        .when(KEY_SET)
        .answers(EditMember("keys", |keys| edit_each(keys, |key| key["d"] = key["x"].clone()))),
    mutant("publishes-symmetric-key", "Publishes a symmetric key.")
        .breaks("keys.public-only", "keys-private")
        .also_late()
        .when(KEY_SET)
        .answers(EditMember("keys", |keys| {
            add(keys, json!({ "kty": "oct", "kid": "symmetric", "k": "c2VjcmV0" }));
        })),
    mutant("codes-unasked", "Codes the key set with gzip, whatever the client accepts.")
        .breaks("keys.200.published", "key-set-shape")
        .should()
        .when(All(&[KEY_SET, AnswerIs(200, 200)]))
        .answers(By(|_, answer| gzipped(answer).with("vary", "Accept-Encoding"))),
    mutant("codes-without-vary", "Codes the key set for clients that accept it, without Vary.")
        .breaks("keys.200.published", "key-set-unstable")
        .should()
        .when(All(&[KEY_SET, AnswerIs(200, 200), HeaderPart("accept-encoding", "gzip")]))
        .answers(By(|_, answer| gzipped(answer).without("vary"))),
    mutant("same-key-ids", "Publishes two keys with the same id.")
        .breaks("keys.distinct-ids", "keys-unusable")
        .when(KEY_SET)
        .answers(EditMember("keys", |keys| {
            let mut second = keys[0].clone();
            second["use"] = json!("other");
            add(keys, second);
        })),
    mutant("unknown-key-type", "Publishes a key of an unknown type.")
        .breaks("keys.types", "keys-unusable")
        .when(KEY_SET)
        .answers(EditMember("keys", |keys| add(keys, json!({ "kty": "edgeproof", "kid": "unknown" })))),
    mutant("publishes-encryption-keys", "Publishes keys for encryption.")
        .breaks("keys.types", "keys-unusable")
        .when(KEY_SET)
        .answers(EditMember("keys", |keys| edit_each(keys, |key| key["use"] = json!("enc")))),
    mutant("no-keys-for-a-query", "Lets a query change the key set.")
        .breaks("keys.200.published", "key-set-unavailable")
        .when(All(&[KEY_SET, TargetPart("?")]))
        .answers(Content(r#"{"keys":[]}"#)),
    mutant("304-to-similar-entity-tag", "Answers 304 to a part of the entity tag.")
        .breaks("keys.not-modified", "key-set-revalidation")
        .when(All(&[KEY_SET, SimilarTag]))
        .answers(NOT_MODIFIED),
    mutant("head-without-etag", "Omits the entity tag in answers to HEAD.")
        .breaks("keys.head", "key-set-revalidation")
        .when(All(&[KEY_SET, Method("HEAD")]))
        .answers(RemoveHeader("etag")),
    mutant("keys-without-public-part", "Publishes keys without their public part.")
        .breaks("keys.types", "keys-unusable")
        .when(KEY_SET)
        .answers(EditMember("keys", |keys| {
            edit_each(keys, |key| drop(key.as_object_mut().and_then(|key| key.shift_remove("x"))));
        })),
    mutant("no-keys", "Publishes no keys.")
        .breaks("keys.200.published", "keys-unusable")
        .should()
        .when(KEY_SET)
        .answers(EditMember("keys", |keys| *keys = json!([]))),
    mutant("bare-array", "Publishes the array of keys without the object around it.")
        .breaks("keys.shape", "key-set-shape")
        .when(KEY_SET)
        .answers(By(|_, answer| match answer.member("keys") {
            Some(keys) => Answer { body: keys.to_string().into(), ..answer },
            None => answer,
        })),
    mutant("html-page-for-keys", "Publishes an HTML page in place of the key set.")
        .breaks("keys.200.published", "key-set-shape")
        .when(KEY_SET)
        .answers(Typed("text/html", "<!doctype html><title>Keys</title>")),
    mutant("cached-for-a-day", "Lets caches store the key set for a day.")
        .breaks("limit.key-set-cache", "key-set-cached-long")
        .also_late()
        .when(KEY_SET)
        .answers(SetHeader("cache-control", "public, max-age=86400")),
    mutant("cached-without-limit", "Lets caches store the key set without a limit.")
        .breaks("limit.key-set-cache", "key-set-cached-long")
        .also_late()
        .when(KEY_SET)
        .answers(Each(&[
            SetHeader("cache-control", "public, immutable"),
            SetHeader("expires", "Fri, 31 Dec 9999 23:59:59 GMT"),
        ])),
    mutant("alternating-keys", "Publishes other keys on every second request.")
        .breaks("keys.stable", "key-set-unstable")
        .when(LastOfEach(2, &KEY_SET))
        .answers(PUBLISH_OTHERS),
    mutant("other-keys-on-one-server", "Publishes other keys on one of four servers.")
        .breaks("keys.stable", "key-set-unstable")
        .when(LastOfEach(4, &KEY_SET))
        .answers(PUBLISH_OTHERS),
    mutant(
        "fails-on-long-fields",
        "Answers 500 to a request for the keys with more than 2,000 bytes of fields.",
    )
    .breaks("keys.200.published", "key-set-unavailable")
    .when(All(&[KEY_SET, FieldsOver(2000)]))
    .then(Instead(Json(500, r#"{"error":"internal"}"#))),
    mutant("no-etag", "Omits the header ETag.")
        .breaks("keys.etag", "key-set-revalidation")
        .when(KEY_SET)
        .answers(RemoveHeader("etag")),
    mutant("never-304", "Never answers 304.")
        .breaks("keys.not-modified", "key-set-revalidation")
        .when(All(&[KEY_SET, Not(&AnswerIs(200, 200))]))
        .answers(Repeats(Which::Last, (Same::Target, &All(&[KEY_SET, AnswerIs(200, 200)])))),
    mutant("always-304", "Answers 304 to any If-None-Match.")
        .breaks("keys.not-modified", "key-set-revalidation")
        .when(All(&[KEY_SET, Has("if-none-match")]))
        .answers(NOT_MODIFIED),
    mutant("no-head", "Answers 405 to HEAD.")
        .breaks("keys.head", "key-set-unavailable")
        .when(All(&[KEY_SET, Method("HEAD")]))
        .then(Instead(Json(405, r#"{"error":"method_not_allowed"}"#))),
    mutant("publishes-other-keys", "Publishes other keys than those that sign verdicts.")
        .breaks("keys.verifies-verdict", "verdict-unverifiable")
        .when(KEY_SET)
        .answers(PUBLISH_OTHERS),
    mutant("corrupts-signature", "Corrupts the signature of verdicts.")
        .breaks("keys.verifies-verdict", "verdict-unverifiable")
        .when(AVAILABLE)
        .answers(EditMember("token", |token| *token = json!(altered(token.as_str().unwrap_or_default())))),
    mutant("no-critical-extensions", "Lists no extension as critical in the header of verdict tokens.")
        .breaks("keys.token-header", "verdict-unverifiable")
        .when(AVAILABLE)
        .answers(EditMember("token", |token| edit_part(token, 0, |text| first(text, r#""crit":[],"#)))),
    mutant("algorithm-twice", "Names two algorithms in the header of verdict tokens.")
        .breaks("keys.token-header", "verdict-unverifiable")
        .when(AVAILABLE)
        .answers(EditMember("token", |token| edit_part(token, 0, |text| first(text, r#""alg":"none","#)))),
    mutant("audience-is-a-number", "Writes a number for the audience of verdict tokens.")
        .breaks("keys.token-claims", "verdict-unverifiable")
        .when(AVAILABLE)
        .answers(EditMember("token", |token| edit_claim(token, "aud", |_| json!(1)))),
    mutant("subject-is-a-number", "Writes a number for a subject that looks like one in verdict tokens.")
        .breaks("keys.token-claims", "verdict-unverifiable")
        .when(AVAILABLE)
        .answers(EditMember("token", |token| {
            edit_claim(token, "sub", |text| match text.as_str().and_then(|text| text.parse::<f64>().ok()) {
                Some(number) => json!(number),
                None => text.clone(),
            });
        })),
    mutant("same-token-id", "Gives all verdict tokens the same id.")
        .breaks("keys.token-id", "verdict-unverifiable")
        .when(AVAILABLE)
        .answers(EditMember("token", |token| edit_claim(token, "jti", |_| json!("1")))),
    mutant("repeats-first-token", "Answers with the first verdict of a session, also after a second one.")
        .breaks("keys.token-times", "verdict-unverifiable")
        .when(AVAILABLE)
        .answers(Repeats(Which::First, (Same::Target, &AVAILABLE))),
    mutant("token-begins-later", "Signs tokens that begin in a minute.")
        .breaks("keys.token-times", "verdict-unverifiable")
        .when(AVAILABLE)
        .answers(EditMember("token", |token| {
            edit_claim(token, "nbf", |time| json!(time.as_u64().unwrap_or_default() + 60));
        })),
    mutant("key-id-twice", "Publishes keys with two ids.")
        .breaks("keys.members-once", "keys-unusable")
        .when(KEY_SET)
        .answers(By(|_, answer| {
            let body = String::from_utf8_lossy(&answer.body).replace(r#""kid":"#, r#""kid":"other","kid":"#);
            Answer { body: body.into(), ..answer }
        })),
];

/// Puts a member before those of a JSON object.
fn first(object: &str, member: &str) -> String {
    object.replacen('{', &format!("{{{member}"), 1)
}

/// Changes a part of a token as text. Its signature stays.
fn edit_part(token: &mut Value, part: usize, edit: impl Fn(&str) -> String) {
    let mut parts: Vec<String> = token.as_str().unwrap_or_default().split('.').map(str::to_owned).collect();
    let Some(part) = parts.get_mut(part) else { return };
    let text = URL_SAFE_NO_PAD.decode(&*part).unwrap_or_default();
    *part = URL_SAFE_NO_PAD.encode(edit(&String::from_utf8_lossy(&text)));
    *token = json!(parts.join("."));
}

/// Changes a claim of a token. Its signature stays.
fn edit_claim(token: &mut Value, name: &str, edit: fn(&Value) -> Value) {
    edit_part(token, 1, |text| {
        let mut claims: Value = serde_json::from_str(text).unwrap_or_default();
        claims[name] = edit(&claims[name]);
        claims.to_string()
    });
}

fn add(keys: &mut Value, key: Value) {
    if let Some(keys) = keys.as_array_mut() {
        keys.push(key);
    }
}

fn edit_each(keys: &mut Value, edit: impl FnMut(&mut Value)) {
    keys.as_array_mut().into_iter().flatten().for_each(edit);
}

/// Changes a letter in the middle of the signature.
fn altered(token: &str) -> String {
    let Some((rest, signature)) = token.rsplit_once('.') else { return token.to_owned() };
    let at = signature.len() / 2;
    let other = if signature[at..].starts_with('A') { 'B' } else { 'A' };
    format!("{rest}.{}{other}{}", &signature[..at], &signature[at + 1..])
}
