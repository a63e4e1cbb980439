use edgeproof_fixtures::spec::Advice;
use edgeproof_http::Answer;
use edgeproof_reports::difference::{
    AnswerSubject, AnswerValue, BodyRule, BodyValue, DifferenceKind, SecretPlace, Secrets, Statuses, Wire,
};
use serde_json::{Map, Value};

use super::advice::answer_advice;
use super::check::{AnswerResult, Check};
use super::header::json_content_type;
use super::values::{answer_value, body_value, form, same};

/// Maximum number of extra members that an advice names.
const NAMED: usize = 4;

/// An expected answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedAnswer {
    /// Status code. 0: this version of the interface does not show the answer.
    pub status: u16,
    /// Exact JSON body. None: any body.
    pub body: Option<Value>,
    /// The request is a `HEAD`, so the answer has no body.
    pub to_head: bool,
}

/// The answer has exactly this status and this JSON body. Key order and whitespace are free; an extra member fails.
///
/// A check holds what differs as a [`DifferenceKind`] (`reports/src/difference/kind.rs`), and `run/report/case_report.rs`
/// makes a mismatch of each failed check.
pub fn exact(expected: &ExpectedAnswer, reply: &AnswerResult) -> Vec<Check> {
    if !expected.is_stated() {
        return vec![Check::unstated(expected.wanted())];
    }
    let answer = match reply {
        Ok(answer) => answer,
        Err(why) => return vec![Check::unanswered(why, expected.wanted())],
    };
    let mut checks = vec![status(expected.status, answer)];
    if let Some(body) = expected.body.as_ref().filter(|_| !expected.to_head) {
        let mut is_body = body_is(body, answer);
        if answer.status != expected.status && !has_common_member(body, answer) {
            // Another answer: that it lacks the members of this one explains nothing.
            is_body.advice.clear();
        }
        checks.push(is_body);
    }
    // The first mismatch gets the advice; the second one follows from it.
    if let Some(wrong) = checks.iter_mut().find(|check| !check.ok) {
        wrong.advice.extend(answer_advice(expected, answer));
    }
    checks
}

/// The answer is exactly one of these, at least one.
pub fn one_of(subject: AnswerSubject, expected: &[ExpectedAnswer], reply: &AnswerResult) -> Check {
    if let Some(unstated) = expected.iter().find(|answer| !answer.is_stated()) {
        return Check::unstated(unstated.wanted());
    }
    let ok = expected.iter().any(|answer| exact(answer, reply).iter().all(|check| check.ok));
    let first = expected.first().and_then(|answer| answer.body.as_ref());
    let expected = expected.iter().map(ExpectedAnswer::value).collect();
    whole(subject, expected, reply, first, ok)
}

/// A check of a whole answer. `body`: expected body, whose members are compared.
pub(super) fn whole(
    subject: AnswerSubject,
    expected: Vec<AnswerValue>,
    reply: &AnswerResult,
    body: Option<&Value>,
    ok: bool,
) -> Check {
    let kind = |actual| DifferenceKind::Answer { subject, expected, actual };
    match reply {
        Ok(answer) => Check::judged(kind(vec![answer_value(answer, body)]), ok),
        Err(why) => Check { ok, ..Check::unanswered(why, kind(Vec::new())) },
    }
}

/// The answer is `expected`, with any reason in one line.
pub fn refused_in_one_line(expected: &ExpectedAnswer, reply: &AnswerResult) -> Vec<Check> {
    let body = reply.as_ref().ok().and_then(|answer| serde_json::from_slice::<Value>(&answer.body).ok());
    let breaks_line = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let reason = body.as_ref().and_then(|body| body.get("reason")?.as_str());
    let mut expected = expected.clone();
    if let Some(reason) = reason.filter(|reason| !reason.contains(breaks_line))
        && let Some(Value::Object(members)) = &mut expected.body
    {
        members.insert("reason".into(), reason.into());
    }
    exact(&expected, reply)
}

/// The edge accepts nothing: another status than 2xx, or no answer.
pub fn not_accepted(reply: &AnswerResult) -> Check {
    let accepted = reply.as_ref().is_ok_and(|answer| (200..300).contains(&answer.status));
    whole(AnswerSubject::NoAcceptance, Vec::new(), reply, None, !accepted)
}

/// The status is one of these.
pub fn status_in(expected: Statuses, reply: &AnswerResult) -> Check {
    match reply {
        Ok(answer) => {
            let ok = expected.has(answer.status);
            Check::judged(DifferenceKind::Status { expected, actual: Some(answer.status) }, ok)
        }
        Err(why) => Check::unanswered(why, DifferenceKind::Status { expected, actual: None }),
    }
}

/// The status is this one.
pub fn status_is(expected: u16, reply: &AnswerResult) -> Check {
    status_in(Statuses::OneOf(vec![expected]), reply)
}

/// The body is complete JSON.
pub fn is_json(reply: &AnswerResult) -> Check {
    let kind = |actual| DifferenceKind::Body { expected: BodyRule::Json, actual };
    match reply {
        Ok(answer) => {
            let ok = answer.complete && serde_json::from_slice::<Value>(&answer.body).is_ok();
            Check::judged(kind(Some(body_value(answer, None))), ok)
        }
        Err(why) => Check::unanswered(why, kind(None)),
    }
}

/// The body of a verdict is not empty, and complete.
pub fn has_verdict(reply: &AnswerResult) -> Check {
    let kind = |actual| DifferenceKind::Body { expected: BodyRule::Verdict, actual };
    match reply {
        Ok(answer) => {
            let ok = answer.complete && !says_nothing(&answer.body);
            Check::judged(kind(Some(hidden(answer))), ok)
        }
        Err(why) => Check::unanswered(why, kind(None)),
    }
}

/// Nothing, or JSON without a value.
fn says_nothing(body: &[u8]) -> bool {
    body.is_empty()
        || match serde_json::from_slice(body) {
            Ok(Value::Object(members)) => members.is_empty(),
            Ok(Value::Array(values)) => values.is_empty(),
            Ok(Value::Null) => true,
            _ => false,
        }
}

/// The body of an answer by its length. Reports show no verdict.
fn hidden(answer: &Answer) -> BodyValue {
    let value = Wire { text: String::new(), bytes: answer.body.len() as u64 };
    BodyValue { value, ..body_value(answer, None) }
}

/// A body that says it is JSON is JSON (RFC 8259). None: it does not say so, or is encoded.
pub fn json_as_said(reply: &AnswerResult) -> Option<Check> {
    let answer = reply.as_ref().ok()?;
    let is_said = json_content_type(reply).ok && !answer.headers.contains_key("content-encoding");
    let kind = DifferenceKind::Body { expected: BodyRule::Json, actual: Some(hidden(answer)) };
    is_said.then(|| Check::judged(kind, is_json(reply).ok))
}

/// The answer has no body.
pub fn has_no_body(answer: &Answer) -> Check {
    let actual = Some(body_value(answer, None));
    let ok = answer.body.is_empty();
    Check::judged(DifferenceKind::Body { expected: BodyRule::Nothing, actual }, ok)
}

/// There is an answer, and its status is not a server error.
pub fn no_server_error(reply: &AnswerResult) -> Check {
    status_in(Statuses::NoServerError, reply)
}

/// The answer contains no secret. `finds` reports whether bytes contain one, in any encoding. The check repeats no secret.
pub fn no_secrets(secrets: Secrets, finds: impl Fn(&[u8]) -> bool, reply: &AnswerResult) -> Check {
    let answer = match reply {
        Ok(answer) => answer,
        Err(why) => return Check::unanswered(why, DifferenceKind::Secret { secrets, place: None }),
    };
    let field = || answer.headers.iter().find(|(_, value)| finds(value.as_bytes()));
    let place = if finds(&answer.body) {
        Some(SecretPlace::Body)
    } else {
        field().map(|(name, _)| SecretPlace::Header(name.to_string()))
    };
    let ok = place.is_none();
    Check::judged(DifferenceKind::Secret { secrets, place }, ok).advise(Advice::SecretAnswered)
}

impl std::fmt::Display for ExpectedAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.body {
            Some(body) if !self.to_head => write!(f, "{} {body}", self.status),
            _ => write!(f, "{}", self.status),
        }
    }
}

impl ExpectedAnswer {
    /// Whether this version of the interface shows the answer.
    pub fn is_stated(&self) -> bool {
        self.status != 0
    }

    /// The answer as a value of a difference.
    pub(crate) fn value(&self) -> AnswerValue {
        let body = self.body.as_ref().filter(|_| !self.to_head).map(|body| BodyValue {
            value: body.to_string().into(),
            form: form(&[], Some(body)),
            content_type: None,
            complete: true,
            members: Vec::new(),
        });
        AnswerValue { status: self.status, location: None, headers: None, body }
    }

    /// A difference to this answer.
    pub(crate) fn wanted(&self) -> DifferenceKind {
        DifferenceKind::Answer {
            subject: AnswerSubject::Answer,
            expected: vec![self.value()],
            actual: Vec::new(),
        }
    }
}

/// Status, redirect and body of an answer, for messages.
pub(crate) fn status_and_body(answer: &Answer) -> String {
    answer_value(answer, None).to_string()
}

fn status(expected: u16, answer: &Answer) -> Check {
    let kind =
        DifferenceKind::Status { expected: Statuses::OneOf(vec![expected]), actual: Some(answer.status) };
    Check::judged(kind, answer.status == expected)
}

fn body_is(expected: &Value, answer: &Answer) -> Check {
    let kind = DifferenceKind::Body {
        expected: BodyRule::Exactly(expected.to_string().into()),
        actual: Some(body_value(answer, Some(expected))),
    };
    let actual = serde_json::from_slice::<Value>(&answer.body).ok().filter(|_| answer.complete);
    let ok = actual.as_ref().is_some_and(|actual| same(expected, actual));
    let advice = actual.filter(|_| !ok).map_or_else(Vec::new, |actual| member_advice(expected, &actual));
    Check::judged(kind, ok).advise_all(advice)
}

/// Whether both bodies are objects with a member of the same name.
fn has_common_member(expected: &Value, answer: &Answer) -> bool {
    let actual = serde_json::from_slice::<Map<String, Value>>(&answer.body).unwrap_or_default();
    expected.as_object().is_some_and(|expected| expected.keys().any(|key| actual.contains_key(key)))
}

/// The differing members of two objects.
fn member_advice(expected: &Value, actual: &Value) -> Vec<Advice> {
    let (Value::Object(expected), Value::Object(actual)) = (expected, actual) else { return Vec::new() };
    let mut advice = Vec::new();
    for (key, value) in expected {
        let member = key.into();
        match actual.get(key) {
            None => advice.push(Advice::MemberMissing { member }),
            Some(other) if same(value, other) => {}
            Some(other) if other.as_str() == Some(&value.to_string()) => {
                advice.push(Advice::MemberQuoted { member, expected: (&value.to_string()).into() });
            }
            Some(other) => advice.push(Advice::MemberOther {
                member,
                actual: (&other.to_string()).into(),
                expected: (&value.to_string()).into(),
            }),
        }
    }
    let mut more = actual.keys().filter(|key| !expected.contains_key(*key));
    advice.extend(more.by_ref().take(NAMED).map(|key| Advice::MemberUnexpected { member: key.into() }));
    if let others @ 1.. = more.count() {
        advice.push(Advice::MembersUnexpected { count: others as u64 });
    }
    advice
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use edgeproof_reports::Mismatch;
    use http::{HeaderMap, Version};
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "the checks take an AnswerResult")]
    fn reply(status: u16, body: &str) -> AnswerResult {
        let (headers, body) = (HeaderMap::new(), Bytes::copy_from_slice(body.as_bytes()));
        Ok(Answer { status, version: Version::HTTP_11, headers, body, complete: true })
    }

    fn unexpected(member: &str) -> Advice {
        Advice::MemberUnexpected { member: member.into() }
    }

    #[rstest]
    #[case::same(r#"{"error":"service_rejected","reason":"revoked","status":401}"#, &[])]
    #[case::other_order(r#" {"status":401, "reason":"revoked","error":"service_rejected"}"#, &[])]
    #[case::as_fraction(r#"{"error":"service_rejected","reason":"revoked","status":401.0}"#, &[])]
    #[case::text(
        r#"{"error":"service_rejected","reason":"revoked","status":"401"}"#,
        &[Advice::MemberQuoted { member: "status".into(), expected: "401".into() }]
    )]
    #[case::missing(
        r#"{"error":"service_rejected","status":401}"#,
        &[Advice::MemberMissing { member: "reason".into() }]
    )]
    #[case::extra(
        r#"{"error":"service_rejected","reason":"revoked","status":401,"ok":false}"#,
        &[unexpected("ok")]
    )]
    #[case::five_extra(
        r#"{"error":"service_rejected","reason":"revoked","status":401,"a":1,"b":1,"c":1,"d":1,"e":1}"#,
        &[unexpected("a"), unexpected("b"), unexpected("c"), unexpected("d"), Advice::MembersUnexpected { count: 1 }]
    )]
    #[case::other_code(
        r#"{"error":"service_rejected","reason":"Revoked","status":401}"#,
        &[Advice::MemberOther {
            member: "reason".into(),
            actual: "\"Revoked\"".into(),
            expected: "\"revoked\"".into()
        }]
    )]
    fn differing_members_are_named(#[case] body: &str, #[case] advice: &[Advice]) {
        let expected = json!({"error": "service_rejected", "reason": "revoked", "status": 401});
        let expected = ExpectedAnswer { status: 401, body: Some(expected), to_head: false };
        let checks = exact(&expected, &reply(401, body));
        assert!(checks[0].ok);
        assert_eq!(checks[1].ok, advice.is_empty());
        assert_eq!(checks[1].advice, advice);
    }

    #[test]
    fn status_and_body_mismatches_are_reported_together() {
        let expected = ExpectedAnswer {
            status: 405,
            body: Some(json!({"error": "method_not_allowed"})),
            to_head: false,
        };
        let checks = exact(&expected, &reply(404, "nope"));
        let kinds: Vec<_> = checks.iter().filter_map(Check::kind).map(DifferenceKind::name).collect();
        assert_eq!(kinds, ["status", "body"]);
        let without_values = |mismatch| Mismatch { difference: None, ..mismatch };
        let wrong: Vec<_> = checks.iter().filter_map(Check::mismatch).map(without_values).collect();
        insta::assert_debug_snapshot!(wrong, @r#"
        [
            Mismatch {
                what: "status",
                expected: "405",
                actual: "404",
                hint: None,
                level: Must,
                place: "",
                difference: None,
                advice: [
                    AdviceNote {
                        id: "other-methods-unrouted",
                        values: {},
                    },
                ],
            },
            Mismatch {
                what: "body",
                expected: "{\"error\":\"method_not_allowed\"}",
                actual: "not JSON: nope",
                hint: None,
                level: Must,
                place: "",
                difference: None,
                advice: [],
            },
        ]
        "#);
    }

    #[rstest]
    #[case::json(r#"{"error":"internal"}"#, r#"500 {"error":"internal"}"#)]
    #[case::text("500 Internal Server Error", "500 Internal Server Error")]
    #[case::status_only("500", "500")]
    #[case::other_number("5000 items", "500 5000 items")]
    #[case::empty("", "500 nothing")]
    fn status_is_rendered_once(#[case] body: &str, #[case] expected: &str) {
        assert_eq!(status_and_body(&reply(500, body).unwrap()), expected);
    }

    #[test]
    fn secret_is_reported_without_its_text() {
        let mut answer = reply(200, "{}").unwrap();
        answer.headers.insert("x-debug", "Bearer hunter2".parse().unwrap());
        let finds = |bytes: &[u8]| bytes.windows(7).any(|window| window == b"hunter2");
        let check = no_secrets(Secrets::Edge, finds, &Ok(answer));
        assert_eq!((check.ok, check.actual.as_str()), (false, "one in header x-debug"));
    }
}
