//! Services that mix up references, long polls, customers, revocations and keys. Only states of the service show it.

use super::prelude::*;
use crate::behaviour::Reading;

/// Finds the verdict of a reference that a store reads alike.
macro_rules! reads {
    ($name:literal, $title:literal, $reading:expr) => {
        mutant($name, $title)
            .breaks("verdict.404.pending", "reference-changed")
            .when(All(&[PENDING, Earlier(Same::Like($reading), 1, &AVAILABLE)]))
            .answers(Repeats(Which::Last, (Same::Like($reading), &AVAILABLE)))
    };
}

const REVOKED: Condition = All(&[VERDICT, Stimulus(&[S::ReadTokenRevoked])]);
const EXPIRED: Condition = Stimulus(&[S::ReadTokenExpired]);
const POLLED: Condition = All(&[AVAILABLE, WAITS]);
const OTHER_LICENSE: Condition = All(&[VERDICT, Stimulus(&[S::ReferenceOtherLicense])]);
const KEY_SET: Condition = Endpoint(ServiceEndpoint::KeySet);
const LOSE_VERDICT: Change = Replaced(Made(|seen| pending(seen.reference)));
/// Repeats the last verdict for the same request target.
const REPEAT_VERDICT: Change = Repeats(Which::Last, (Same::Target, &AVAILABLE));

pub(super) const MUTANTS: &[Behaviour<ServiceEffect>] = &[
    reads!("trims-references", "Removes white space around references.", Reading::Trimmed),
    reads!("cuts-references-at-64", "Reads 64 characters of a reference.", Reading::First(64)),
    reads!("cuts-references-at-128", "Reads 128 characters of a reference.", Reading::First(128)),
    reads!("cuts-references-at-255", "Reads 255 characters of a reference.", Reading::First(255)),
    reads!("cuts-references-at-2000", "Reads 2000 characters of a reference.", Reading::First(2000)),
    reads!("ignores-padding", "Ignores equals signs at the end of references.", Reading::Unpadded),
    reads!("removes-accents", "Removes accents from references.", Reading::Plain),
    reads!("references-are-numbers", "Reads references of digits as integers.", Reading::Number),
    reads!("references-are-floats", "Reads references of digits as floating-point numbers.", Reading::Float),
    reads!("decodes-references-again", "Decodes references a second time.", Reading::Decoded),
    reads!("plus-is-a-space", "Reads a plus sign in a reference as a space.", Reading::Form),
    reads!("cuts-references-at-delimiters", "Cuts a reference at a decoded delimiter.", Reading::Path),
    reads!("last-segment-of-reference", "Reads the last segment of a reference.", Reading::LastSegment),
    reads!(
        "drops-letters-beyond-ascii",
        "Drops all characters beyond ASCII from references.",
        Reading::Ascii
    ),
    mutant("wakes-one-poll", "Answers one of several long polls for a verdict with it.")
        .breaks("statement.wait-optional", "poll-not-woken")
        .when(All(&[POLLED, Earlier(Same::Target, 1, &POLLED)]))
        .answers(LOSE_VERDICT),
    mutant("wakes-other-polls", "Answers long polls for other sessions with the last verdict.")
        .breaks("verdict.404.pending", "verdict-of-other-session")
        .when(All(&[PENDING, WAITS, Earlier(Same::Part, 1, &POLLED)]))
        .answers(Repeats(Which::Last, (Same::Part, &POLLED))),
    mutant("poll-loses-verdict", "Answers a long poll as pending though the verdict came.")
        .breaks("statement.wait-optional", "poll-not-woken")
        .when(POLLED)
        .answers(LOSE_VERDICT),
    mutant("breaks-next-poll", "Answers 500 to a long poll after an answered one on its connection.")
        .breaks("statement.wait-optional", "wait-refused")
        .when(All(&[PENDING, WAITS, Earlier(Same::Connection, 1, &POLLED)]))
        .answers(Replaced(Json(500, r#"{"error":"internal"}"#))),
    mutant("keeps-gone-sessions", "Returns the verdict of a session that is gone.")
        .breaks("verdict.404.pending", "verdict-kept")
        .when(All(&[PENDING, Earlier(Same::Target, 1, &AVAILABLE)]))
        .answers(REPEAT_VERDICT),
    mutant("keeps-verdicts-of-connections", "Keeps a verdict as long as its connection.")
        .breaks("verdict.404.pending", "verdict-kept")
        .when(All(&[PENDING, LastOfEach(2, &PENDING), Earlier(Same::Target, 1, &AVAILABLE)]))
        .answers(REPEAT_VERDICT),
    mutant("keeps-pending", "Repeats that a session has no verdict.")
        .breaks("verdict.200.available", "pending-remembered")
        .when(All(&[AVAILABLE, Earlier(Same::Target, 1, &PENDING)]))
        .answers(LOSE_VERDICT),
    mutant("remembers-misses", "Finds no verdict after thirty requests without one.")
        .breaks("verdict.200.available", "pending-remembered")
        .when(All(&[AVAILABLE, Earlier(Same::Target, 30, &PENDING)]))
        .answers(LOSE_VERDICT),
    mutant("reveals-length-to-head", "Answers HEAD for another license with the length of a verdict.")
        .breaks("statement.no-oracle", "session-revealed")
        .when(All(&[OTHER_LICENSE, Method("HEAD")]))
        .answers(Content(r#"{"decision":"allow","confidence":1}"#)),
    mutant("no-confidence-is-no-verdict", "Returns no verdict with a confidence of 0.")
        .breaks("verdict.200.available", "verdict-value-lost")
        .when(AVAILABLE)
        .answers(By(|seen, answer| {
            let is_zero = answer.member("confidence").and_then(|value| value.as_f64()) == Some(0.0);
            if is_zero { pending(seen.reference) } else { answer }
        })),
    mutant("denied-is-no-verdict", "Returns no verdict that denies.")
        .breaks("verdict.200.available", "verdict-value-lost")
        .when(AVAILABLE)
        .answers(By(|seen, answer| {
            let denies = answer.member("decision").is_some_and(|value| value == "deny");
            if denies { pending(seen.reference) } else { answer }
        })),
    mutant("caches-across-customers", "Answers from a cache that ignores the token.")
        .breaks("verdict.404.pending", "verdict-of-other-session")
        .when(All(&[OTHER_LICENSE, Earlier(Same::Target, 1, &AVAILABLE)]))
        .answers(REPEAT_VERDICT),
    mutant("license-in-query", "Takes the license of a session from the query.")
        .breaks("statement.no-oracle", "verdict-of-other-session")
        .when(All(&[OTHER_LICENSE, Parameter("license")]))
        .answers(Replaced(Json(200, r#"{"decision":"allow"}"#))),
    mutant("license-in-header", "Takes the license of a session from a header.")
        .breaks("statement.no-oracle", "verdict-of-other-session")
        .when(All(&[OTHER_LICENSE, Has("x-license")]))
        .answers(Replaced(Json(200, r#"{"decision":"allow"}"#))),
    mutant("license-posted", "Returns a verdict to a POST that names its license.")
        .breaks("statement.no-oracle", "verdict-of-other-session")
        .when(All(&[Method("POST"), TargetPart("/verdict/")]))
        .answers(Replaced(Json(200, r#"{"decision":"allow"}"#))),
    mutant("reveals-other-license-to-polls", "Answers 403 to a long poll for a session of another license.")
        .breaks("statement.no-oracle", "session-revealed")
        .when(All(&[OTHER_LICENSE, WAITS]))
        .answers(Replaced(Json(403, r#"{"error":"forbidden"}"#))),
    mutant("keeps-accepted-tokens", "Accepts a token that it accepted before it was revoked.")
        .breaks("verdict.401.revoked", "token-revocation-unchecked")
        .when(All(&[VERDICT, Stimulus(&[S::ReadTokenRevoked]), Earlier(Same::Token, 1, &ACCEPTED)]))
        .then(AcceptToken),
    mutant("keeps-accepted-tokens-after-expiry", "Accepts a token that it accepted before it expired.")
        .breaks("verdict.401.expired", "token-time-unchecked")
        .when(All(&[VERDICT, EXPIRED, Earlier(Same::Token, 1, &ACCEPTED)]))
        .then(AcceptToken),
    mutant("accepts-expired-token-with-cookie", "Accepts an expired token in a request with a cookie.")
        .breaks("verdict.401.expired", "token-time-unchecked")
        .when(All(&[VERDICT, EXPIRED, Has("cookie")]))
        .then(AcceptToken),
    mutant("accepts-revoked-token-with-request-id", "Accepts a revoked token in a request with an id.")
        .breaks("verdict.401.revoked", "token-revocation-unchecked")
        .when(All(&[VERDICT, Stimulus(&[S::ReadTokenRevoked]), Has("x-request-id")]))
        .then(AcceptToken),
    mutant(
        "verdict-of-other-license-with-prefer",
        "Returns the verdict of another license to a request with Prefer.",
    )
    .breaks("verdict.404.pending", "verdict-of-other-session")
    .when(All(&[OTHER_LICENSE, Has("prefer")]))
    .answers(Replaced(Json(200, r#"{"decision":"allow"}"#))),
    mutant("no-verdict-in-polls-of-proxies", "Returns no verdict to a long poll with X-Forwarded-For.")
        .breaks("verdict.200.available", "poll-not-woken")
        .when(All(&[AVAILABLE, WAITS, Has("x-forwarded-for")]))
        .answers(LOSE_VERDICT),
    mutant("verdict-below-two-slashes", "Returns a verdict without a token at a path with two slashes.")
        .breaks("statement.no-oracle", "session-revealed")
        .when(All(&[TargetPart("//"), Not(&Has("authorization"))]))
        .answers(Replaced(Json(200, r#"{"decision":"allow"}"#))),
    mutant("verdict-of-first-session", "Returns the first verdict to every session with one.")
        .breaks("verdict.200.available", "verdict-of-other-session")
        .when(AVAILABLE)
        .answers(Repeats(Which::First, (Same::Part, &AVAILABLE))),
    mutant("tags-verdicts", "Answers 304 to every client that has an earlier verdict.")
        .breaks("verdict.200.available", "verdict-lost")
        .when(All(&[AVAILABLE, Has("if-none-match")]))
        .answers(Each(&[Status(304), Content("")])),
    mutant("keeps-refused-tokens", "Refuses a token that it refused before it was restored.")
        .breaks("verdict.401.revoked", "valid-token-refused")
        .when(Earlier(Same::Token, 1, &REVOKED))
        .then(RefuseToken),
    mutant("accepts-revoked-token-in-polls", "Accepts a revoked token in a long poll.")
        .breaks("verdict.401.revoked", "token-revocation-unchecked")
        .when(All(&[VERDICT, WAITS, Stimulus(&[S::ReadTokenRevoked])]))
        .then(AcceptToken),
    mutant("drops-old-key", "Removes the old key from the key set when it signs with a new one.")
        .breaks("keys.verifies-verdict", "verdict-unverifiable")
        .when(KEY_SET)
        .answers(EditMember("keys", |keys| {
            if let Some(keys) = keys.as_array_mut() {
                keys.drain(..keys.len().saturating_sub(1));
            }
        })),
    mutant("keeps-one-earlier-key", "Removes all keys from the key set but the newest and the one before.")
        .breaks("keys.verifies-verdict", "verdict-unverifiable")
        .should()
        .when(KEY_SET)
        .answers(EditMember("keys", |keys| {
            if let Some(keys) = keys.as_array_mut() {
                keys.drain(..keys.len().saturating_sub(2));
            }
        })),
    mutant("hides-new-key", "Signs with a new key that the key set does not contain.")
        .breaks("keys.verifies-verdict", "verdict-unverifiable")
        .when(KEY_SET)
        .answers(EditMember("keys", |keys| {
            if let Some(keys) = keys.as_array_mut() {
                keys.truncate(1);
            }
        })),
    mutant("keeps-entity-tag", "Keeps the entity tag of the key set when the keys change.")
        .breaks("keys.not-modified", "key-set-revalidation")
        .when(All(&[KEY_SET, AnswerIs(200, 304)]))
        .answers(By(|seen, answer| {
            let tag = "\"keys\"";
            let has_it =
                seen.headers.get("if-none-match").is_some_and(|value| value.as_bytes() == tag.as_bytes());
            let answer = answer.with("etag", tag);
            if has_it { Answer { status: 304, body: Bytes::new(), ..answer } } else { answer }
        })),
];
