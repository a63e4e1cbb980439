use std::sync::Arc;

use edgeproof_http::ServerAddress;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::connection::{MAX_BODY, OutgoingRequest};
use crate::measure::{Code, Codes, RequestOutcome, RouteId};

/// A request and its expected result.
#[derive(Debug)]
pub struct Call<'a> {
    /// The route.
    pub route: RouteId,
    /// Where to send it. Each user has a connection of its own to each endpoint.
    pub endpoint: &'a Arc<ServerAddress>,
    /// The request.
    pub request: OutgoingRequest,
    /// The expected result.
    pub expect: Expectation<'a>,
}

/// The expected result of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation<'a> {
    /// A collection is accepted.
    Accepted,
    /// Refused with this status and code; `None` accepts any code of the tables.
    Refused(u16, Option<Code>),
    /// The verdict of this reference, or the answer that it is pending.
    VerdictOrPending(&'a str),
    /// The answer that the verdict of this reference is pending.
    Pending(&'a str),
}

/// The result of one poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollResult {
    /// The verdict.
    Ready,
    /// Not ready yet.
    Pending,
    /// Any other answer or failure.
    Other,
}

/// The outcome of an answer, and whether it is the expected one.
pub fn classify(codes: &Codes, expect: Expectation<'_>, status: u16, body: &[u8]) -> (RequestOutcome, bool) {
    let (code, expected) = match (expect, status) {
        (Expectation::Accepted, 200) => {
            let accepted = is_ok_true(body);
            (if accepted { Code::Plain } else { Code::Unrecognized }, accepted)
        }
        (Expectation::VerdictOrPending(reference), 200) => {
            // Nothing can be said against a verdict that is too long to be stored.
            let verdict = body.len() >= MAX_BODY || is_verdict(body, reference);
            (if verdict { Code::Plain } else { Code::Unrecognized }, verdict)
        }
        (Expectation::VerdictOrPending(reference) | Expectation::Pending(reference), 404) => {
            let pending = is_pending(body, reference);
            (if pending { codes.find("pending") } else { Code::Unrecognized }, pending)
        }
        // A 200 instead of a refusal is wrong, whatever its body is.
        (_, 200) => (Code::Plain, false),
        (Expectation::Refused(wanted, code), status) => {
            let body_code = codes.read(body);
            let listed = matches!(body_code, Code::Known(_));
            (body_code, wanted == status && code.map_or(listed, |code| code == body_code))
        }
        _ => (codes.read(body), false),
    };
    (RequestOutcome::Answer { status, code }, expected)
}

/// The result of a poll, from its outcome.
pub fn poll_result(outcome: RequestOutcome, expected: bool) -> PollResult {
    match outcome {
        RequestOutcome::Answer { status: 200, .. } if expected => PollResult::Ready,
        RequestOutcome::Answer { status: 404, .. } if expected => PollResult::Pending,
        _ => PollResult::Other,
    }
}

/// Whether the body is exactly `{"ok":true}`, in any JSON spelling.
fn is_ok_true(body: &[u8]) -> bool {
    if body == br#"{"ok":true}"# {
        return true;
    }
    let Ok(Value::Object(members)) = serde_json::from_slice(body) else { return false };
    members.len() == 1 && members.get("ok") == Some(&Value::Bool(true))
}

/// Whether the body is a JSON object without a foreign `ref`. The interface does not show the other members
/// of a verdict (7.4).
fn is_verdict(body: &[u8], reference: &str) -> bool {
    /// The only member that is read: a verdict can be long.
    #[derive(Deserialize)]
    struct Named<'a> {
        // A `null` is present, and it is not the reference.
        #[serde(borrow, default, rename = "ref", deserialize_with = "there")]
        reference: Option<&'a RawValue>,
    }
    fn there<'de: 'a, 'a, D: Deserializer<'de>>(member: D) -> Result<Option<&'a RawValue>, D::Error> {
        <&RawValue>::deserialize(member).map(Some)
    }
    // serde would accept an array as well.
    let object = body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    let Ok(Named { reference: named }) = serde_json::from_slice(body) else { return false };
    let is_this =
        |named: &RawValue| serde_json::from_str::<String>(named.get()).is_ok_and(|named| named == reference);
    object && named.is_none_or(is_this)
}

fn is_pending(body: &[u8], reference: &str) -> bool {
    let Ok(Value::Object(members)) = serde_json::from_slice(body) else { return false };
    let says = |name: &str, text: &str| members.get(name).and_then(Value::as_str) == Some(text);
    members.len() == 2 && says("status", "pending") && says("ref", reference)
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::{Spec, Version};
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("accepted", 200, r#"{"ok":true}"#, "200", true)]
    #[case("accepted", 200, r#"{ "ok" : true }"#, "200", true)]
    #[case("accepted", 200, r#"{"ok":true,"more":1}"#, "200 with another body", false)]
    #[case("accepted", 200, "", "200 with another body", false)]
    #[case(
        "accepted",
        409,
        r#"{"error":"service_rejected","reason":"replayed_bundle","status":409}"#,
        "409 replayed_bundle",
        false
    )]
    #[case("accepted", 502, r#"{"error":"service_unreachable"}"#, "502 service_unreachable", false)]
    #[case(
        "replayed",
        409,
        r#"{"error":"service_rejected","reason":"replayed_bundle","status":409}"#,
        "409 replayed_bundle",
        true
    )]
    #[case(
        "replayed",
        409,
        r#"{"error":"service_rejected","reason":"bad_seal","status":409}"#,
        "409 bad_seal",
        false
    )]
    #[case("replayed", 200, r#"{"ok":true}"#, "200", false)]
    #[case("verdict", 200, r#"{"ref":"r"}"#, "200", true)]
    #[case("verdict", 200, r#"{"session":"r"}"#, "200", true)]
    #[case("verdict", 200, r#"{"ref":"other"}"#, "200 with another body", false)]
    #[case("verdict", 200, r#"{"ref":["r"]}"#, "200 with another body", false)]
    #[case("verdict", 200, r#"{"ref":null}"#, "200 with another body", false)]
    #[case("verdict", 200, r#"["r"]"#, "200 with another body", false)]
    #[case("verdict", 200, "[]", "200 with another body", false)]
    #[case("verdict", 404, r#"{"status":"pending","ref":"r"}"#, "404 pending", true)]
    #[case("verdict", 404, r#"{"status":"pending","ref":"other"}"#, "404 with another body", false)]
    #[case("verdict", 401, r#"{"error":"expired"}"#, "401 expired", false)]
    #[case("pending", 404, r#"{"status":"pending","ref":"r"}"#, "404 pending", true)]
    #[case("pending", 200, r#"{"ref":"r"}"#, "200", false)]
    #[case("any 401", 401, r#"{"error":"expired"}"#, "401 expired", true)]
    #[case("any 401", 401, r#"{"error":"made_up"}"#, "401 with a code not in the tables", false)]
    #[case("any 401", 403, r#"{"error":"expired"}"#, "403 expired", false)]
    fn answers_are_classified(
        #[case] expect: &str,
        #[case] status: u16,
        #[case] body: &str,
        #[case] label: &str,
        #[case] expected: bool,
    ) {
        let codes = Codes::new(&Spec::builtin(Version::Current));
        let expect = match expect {
            "accepted" => Expectation::Accepted,
            "replayed" => Expectation::Refused(409, Some(codes.find("replayed_bundle"))),
            "verdict" => Expectation::VerdictOrPending("r"),
            "pending" => Expectation::Pending("r"),
            _ => Expectation::Refused(401, None),
        };
        let (outcome, as_expected) = classify(&codes, expect, status, body.as_bytes());
        assert_eq!((codes.label(outcome).as_str(), as_expected), (label, expected));
    }

    /// Only a part of a very long answer is stored. The rest is not the target's fault.
    #[test]
    fn very_long_verdict_is_a_verdict() {
        let codes = Codes::new(&Spec::builtin(Version::Current));
        let body = [&br#"{"ref":"r","evidence":""#[..], &vec![b'x'; MAX_BODY]].concat();
        let outcome = classify(&codes, Expectation::VerdictOrPending("r"), 200, &body[..MAX_BODY]);
        assert_eq!(outcome, (RequestOutcome::Answer { status: 200, code: Code::Plain }, true));
    }
}
