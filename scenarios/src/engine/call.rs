use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::outgoing_request::OutgoingRequest;
use crate::measure::{Code, Codes, Outcome, RouteId};

/// A request with what is to come out.
#[derive(Debug)]
pub struct Call<'a> {
    /// The route, for the report.
    pub route: RouteId,
    /// Which of the user's connections it goes over.
    pub connection: usize,
    /// The request.
    pub request: OutgoingRequest,
    /// What is to come out.
    pub expect: Expectation<'a>,
}

/// What is to come out of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation<'a> {
    /// A collection is accepted.
    Accepted,
    /// A refusal with this status and code; without one, with any code of the tables.
    Refused(u16, Option<Code>),
    /// The verdict of this reference, or the word that it is not there yet.
    VerdictOrPending(&'a str),
    /// The word that the verdict of this reference is not there.
    Pending(&'a str),
}

/// What an answer to a fetch of a verdict comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollResult {
    /// It is there.
    Ready,
    /// Not yet.
    Pending,
    /// Something else.
    Other,
}

/// How an answer came out, and whether that is what was to come out.
pub fn classify(codes: &Codes, expect: Expectation<'_>, status: u16, body: &[u8]) -> (Outcome, bool) {
    let (code, expected) = match (expect, status) {
        (Expectation::Accepted, 200) => {
            let accepted = is_ok_true(body);
            (if accepted { Code::Plain } else { Code::Strange }, accepted)
        }
        (Expectation::VerdictOrPending(reference), 200) => {
            let verdict = is_verdict(body, reference);
            (if verdict { Code::Plain } else { Code::Strange }, verdict)
        }
        (Expectation::VerdictOrPending(reference) | Expectation::Pending(reference), 404) => {
            let pending = is_pending(body, reference);
            (if pending { codes.find("pending") } else { Code::Strange }, pending)
        }
        // A success that was to be none: what is in it does not matter.
        (_, 200) => (Code::Plain, false),
        (Expectation::Refused(wanted, code), status) => {
            let body_code = codes.read(body);
            let listed = matches!(body_code, Code::Known(_));
            (body_code, wanted == status && code.map_or(listed, |code| code == body_code))
        }
        _ => (codes.read(body), false),
    };
    (Outcome::Answer { status, code }, expected)
}

/// What a fetch of a verdict came to.
pub fn poll_result(outcome: Outcome, expected: bool) -> PollResult {
    match outcome {
        Outcome::Answer { status: 200, .. } if expected => PollResult::Ready,
        Outcome::Answer { status: 404, .. } if expected => PollResult::Pending,
        _ => PollResult::Other,
    }
}

/// `{"ok":true}` and no further member, in any spelling of JSON.
fn is_ok_true(body: &[u8]) -> bool {
    if body == br#"{"ok":true}"# {
        return true;
    }
    let Ok(Value::Object(members)) = serde_json::from_slice(body) else { return false };
    members.len() == 1 && members.get("ok") == Some(&Value::Bool(true))
}

/// An object; and where it names a session as the word that there is none yet does, this one: what else is in a verdict is not
/// shown (7.4).
fn is_verdict(body: &[u8], reference: &str) -> bool {
    /// What is looked at of it. It may be long, so that nothing else is kept.
    #[derive(Deserialize)]
    struct Named<'a> {
        // `null` is a name, too, and none of a session.
        #[serde(borrow, default, rename = "ref", deserialize_with = "there")]
        reference: Option<&'a RawValue>,
    }
    fn there<'de: 'a, 'a, D: Deserializer<'de>>(member: D) -> Result<Option<&'a RawValue>, D::Error> {
        <&RawValue>::deserialize(member).map(Some)
    }
    // Else a list would do as well.
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
    fn answers_are_told_apart(
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
}
