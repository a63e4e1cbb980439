use edgeproof_http::{Answer, NoAnswer};
use edgeproof_reports::counted;
use http::header::{ALLOW, CONTENT_TYPE, LOCATION};
use serde_json::Value;

use super::answer_hint::{allow_hint, answer_hint, content_type_hint};
use super::check::{AnswerResult, Check, excerpt};

/// Maximum number of extra members that a hint names.
const NAMED: usize = 4;

/// An expected answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedAnswer {
    /// Status code.
    pub status: u16,
    /// Exact JSON body. None: any body.
    pub body: Option<Value>,
    /// The request is a `HEAD`, so the answer has no body.
    pub to_head: bool,
}

/// The answer has exactly this status and this JSON body. Key order and whitespace are free; an extra member fails.
pub fn exact(expected: &ExpectedAnswer, reply: &AnswerResult) -> Vec<Check> {
    let answer = match reply {
        Ok(answer) => answer,
        Err(why) => return vec![Check::new("answer", expected.to_string(), why.to_string(), false)],
    };
    let mut checks = vec![status(expected.status, answer)];
    if let Some(body) = expected.body.as_ref().filter(|_| !expected.to_head) {
        checks.push(body_is(body, answer));
    }
    // The first mismatch gets the advice; the second one follows from it.
    if let Some(wrong) = checks.iter_mut().find(|check| !check.ok)
        && let Some(fix) = answer_hint(expected, answer)
    {
        wrong.hint = Some(wrong.hint.take().map_or(fix.clone(), |difference| format!("{difference}; {fix}")));
    }
    checks
}

/// The answer is exactly one of these, at least one.
pub fn one_of(what: &str, expected: &[ExpectedAnswer], reply: &AnswerResult) -> Check {
    let ok = expected.iter().any(|answer| exact(answer, reply).iter().all(|check| check.ok));
    let expected: Vec<String> = expected.iter().map(ExpectedAnswer::to_string).collect();
    Check::new(what, expected.join(" or "), rendered(reply), ok)
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
    Check::new("acceptance", "no status from 200 to 299", rendered(reply), !accepted)
}

/// The status satisfies `fits`. `expected` describes it.
pub fn status_in(expected: &str, fits: impl Fn(u16) -> bool, reply: &AnswerResult) -> Check {
    match reply {
        Ok(answer) => Check::new("status", expected, answer.status.to_string(), fits(answer.status)),
        Err(why) => Check::new("answer", expected, why.to_string(), false),
    }
}

/// The body is complete JSON.
pub fn is_json(reply: &AnswerResult) -> Check {
    let expected = "JSON";
    match reply {
        Ok(answer) => {
            let ok = answer.complete && serde_json::from_slice::<Value>(&answer.body).is_ok();
            Check::new("body", expected, excerpt(&answer.body), ok)
        }
        Err(why) => Check::new("answer", expected, why.to_string(), false),
    }
}

/// There is an answer, and its status is not a server error.
pub fn no_server_error(reply: &AnswerResult) -> Check {
    status_in("a status below 500", |status| status < 500, reply)
}

/// A header's value satisfies `fits`. `expected` describes it.
pub fn header_has(name: &str, expected: &str, fits: impl Fn(&str) -> bool, reply: &AnswerResult) -> Check {
    let what = format!("header {name}");
    match reply {
        Ok(answer) => {
            let value = values(answer, name);
            let ok = value.as_deref().is_some_and(&fits);
            let check = Check::new(&what, expected, value.unwrap_or_else(|| "no such header".into()), ok);
            let is_allow = name.eq_ignore_ascii_case(ALLOW.as_str());
            Check { hint: allow_hint(answer).filter(|_| is_allow && !ok), ..check }
        }
        Err(why) => Check::new(&what, expected, why.to_string(), false),
    }
}

/// The answer contains none of these header fields of the service's reply.
pub fn without_fields(fields: &[(String, String)], reply: &Result<Answer, NoAnswer>) -> Check {
    let holds = |answer: &Answer, (name, value): &(String, String)| {
        answer.headers.get_all(name.as_str()).iter().any(|seen| seen.as_bytes() == value.trim().as_bytes())
    };
    let passed: Vec<&str> = match reply {
        Ok(answer) => {
            fields.iter().filter(|field| holds(answer, field)).map(|(name, _)| name.as_str()).collect()
        }
        Err(_) => Vec::new(),
    };
    let actual = if passed.is_empty() { "none".to_owned() } else { passed.join(", ") };
    Check::new("headers of the service in the answer", "none", actual, passed.is_empty())
        .hint("build the answer from status and reason; do not copy the service's headers")
}

/// The content type is JSON (RFC 9110 §8.3).
pub fn json_content_type(reply: &Result<Answer, NoAnswer>) -> Check {
    let is_json = |value: &str| {
        let kind = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
    };
    let check = header_has("content-type", "application/json", is_json, reply);
    let hint = reply.as_ref().ok().filter(|_| !check.ok).map(content_type_hint);
    Check { hint, ..check }
}

/// The edge's secrets, as [`no_secrets`] names them.
pub const EDGE_SECRETS: &str = "license and no private key";

/// The answer contains no secret. `finds` reports whether bytes contain one, in any encoding. The check repeats no secret.
pub fn no_secrets(which: &str, finds: impl Fn(&[u8]) -> bool, reply: &AnswerResult) -> Check {
    let expected = format!("no {which} in the answer");
    let answer = match reply {
        Ok(answer) => answer,
        Err(why) => return Check::new("answer", expected, why.to_string(), false),
    };
    let header = || answer.headers.iter().find(|(_, value)| finds(value.as_bytes()));
    let place = if finds(&answer.body) {
        Some("one in the body".to_owned())
    } else {
        header().map(|(name, _)| format!("one in header {name}"))
    };
    let ok = place.is_none();
    Check::new("secrets", expected, place.unwrap_or_else(|| "none".into()), ok)
        .hint("remove the credential from the answer; anyone who reads the answer in a browser could use it")
}

impl std::fmt::Display for ExpectedAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.body {
            Some(body) if !self.to_head => write!(f, "{} {body}", self.status),
            _ => write!(f, "{}", self.status),
        }
    }
}

/// Status and body in one line, or why there is no answer.
pub(super) fn rendered(reply: &AnswerResult) -> String {
    match reply {
        Ok(answer) => status_and_body(answer),
        Err(why) => why.to_string(),
    }
}

/// Status, redirect and body of an answer, for messages. Some servers begin the body with the status.
pub(crate) fn status_and_body(answer: &Answer) -> String {
    let status = answer.status.to_string();
    let redirect = values(answer, LOCATION.as_str()).map_or(String::new(), |to| format!(" (to {to})"));
    let body = excerpt(&answer.body);
    let is_repeated = |rest: &&str| rest.is_empty() || rest.starts_with(' ');
    let body = body.strip_prefix(&status).filter(is_repeated).map_or(body.as_str(), str::trim_start);
    format!("{status}{redirect} {body}").trim_end().to_owned()
}

/// All values of a header, joined with commas as in the Fetch algorithm.
pub(super) fn values(answer: &Answer, name: &str) -> Option<String> {
    let values: Vec<_> =
        answer.headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

fn status(expected: u16, answer: &Answer) -> Check {
    Check::new("status", expected.to_string(), answer.status.to_string(), answer.status == expected)
}

fn body_is(expected: &Value, answer: &Answer) -> Check {
    let check = |actual: String, ok| Check::new("body", expected.to_string(), actual, ok);
    if !answer.complete {
        return check(format!("{}, incomplete", excerpt(&answer.body)), false);
    }
    match serde_json::from_slice::<Value>(&answer.body) {
        Ok(actual) if same(expected, &actual) => check(excerpt(&answer.body), true),
        Ok(actual) => {
            let difference = difference(expected, &actual);
            let check = check(excerpt(&answer.body), false);
            difference.map_or(check.clone(), |hint| check.hint(&hint))
        }
        Err(_) if answer.body.is_empty() => check("an empty body".into(), false),
        Err(_) => {
            let kind =
                values(answer, CONTENT_TYPE.as_str()).map_or(String::new(), |kind| format!(" ({kind})"));
            check(format!("not JSON{kind}: {}", excerpt(&answer.body)), false)
        }
    }
}

/// JSON equality: the order of members is free, and `401.0` equals `401`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Describes the differing members of two objects.
fn difference(expected: &Value, actual: &Value) -> Option<String> {
    let (Value::Object(expected), Value::Object(actual)) = (expected, actual) else { return None };
    let mut parts = Vec::new();
    for (key, value) in expected {
        match actual.get(key) {
            None => parts.push(format!("\"{key}\" is missing")),
            Some(other) if same(value, other) => {}
            Some(other) if other.as_str() == Some(&value.to_string()) => {
                parts.push(format!("\"{key}\" is a string, expected the number {value}"));
            }
            Some(other) => parts
                .push(format!("\"{key}\" is {}, expected {value}", excerpt(other.to_string().as_bytes()))),
        }
    }
    let mut more = actual.keys().filter(|key| !expected.contains_key(*key));
    for key in more.by_ref().take(NAMED) {
        parts.push(format!("unexpected member \"{}\"", excerpt(key.as_bytes())));
    }
    if let others @ 1.. = more.count() {
        parts.push(format!("and {}", counted(others, "other unexpected member")));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, Version};
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "the checks take an AnswerResult")]
    fn reply(status: u16, body: &str) -> AnswerResult {
        let (headers, body) = (HeaderMap::new(), Bytes::copy_from_slice(body.as_bytes()));
        Ok(Answer { status, version: Version::HTTP_11, headers, body, complete: true })
    }

    #[rstest]
    #[case::same(r#"{"error":"service_rejected","reason":"revoked","status":401}"#, None)]
    #[case::other_order(r#" {"status":401, "reason":"revoked","error":"service_rejected"}"#, None)]
    #[case::as_fraction(r#"{"error":"service_rejected","reason":"revoked","status":401.0}"#, None)]
    #[case::text(
        r#"{"error":"service_rejected","reason":"revoked","status":"401"}"#,
        Some("\"status\" is a string, expected the number 401")
    )]
    #[case::missing(r#"{"error":"service_rejected","status":401}"#, Some("\"reason\" is missing"))]
    #[case::extra(
        r#"{"error":"service_rejected","reason":"revoked","status":401,"ok":false}"#,
        Some("unexpected member \"ok\"")
    )]
    #[case::five_extra(
        r#"{"error":"service_rejected","reason":"revoked","status":401,"a":1,"b":1,"c":1,"d":1,"e":1}"#,
        Some(
            "unexpected member \"a\"; unexpected member \"b\"; unexpected member \"c\"; unexpected member \"d\"; \
             and 1 other unexpected member"
        )
    )]
    #[case::other_code(
        r#"{"error":"service_rejected","reason":"Revoked","status":401}"#,
        Some("\"reason\" is \"Revoked\", expected \"revoked\"")
    )]
    fn differing_members_are_named(#[case] body: &str, #[case] hint: Option<&str>) {
        let expected = json!({"error": "service_rejected", "reason": "revoked", "status": 401});
        let expected = ExpectedAnswer { status: 401, body: Some(expected), to_head: false };
        let checks = exact(&expected, &reply(401, body));
        assert!(checks[0].ok);
        assert_eq!(checks[1].ok, hint.is_none());
        assert_eq!(checks[1].hint.as_deref(), hint);
    }

    #[test]
    fn status_and_body_mismatches_are_reported_together() {
        let expected = ExpectedAnswer {
            status: 405,
            body: Some(json!({"error": "method_not_allowed"})),
            to_head: false,
        };
        let wrong: Vec<_> =
            exact(&expected, &reply(404, "nope")).iter().filter_map(Check::mismatch).collect();
        insta::assert_debug_snapshot!(wrong, @r#"
        [
            Mismatch {
                what: "status",
                expected: "405",
                actual: "404",
                hint: Some(
                    "the router knows the path for POST only: add a route for all other methods of this path",
                ),
                level: Must,
            },
            Mismatch {
                what: "body",
                expected: "{\"error\":\"method_not_allowed\"}",
                actual: "not JSON: nope",
                hint: None,
                level: Must,
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
        assert_eq!(rendered(&reply(500, body)), expected);
    }

    #[test]
    fn secret_is_reported_without_its_text() {
        let mut answer = reply(200, "{}").unwrap();
        answer.headers.insert("x-debug", "Bearer hunter2".parse().unwrap());
        let finds = |bytes: &[u8]| bytes.windows(7).any(|window| window == b"hunter2");
        let check = no_secrets(EDGE_SECRETS, finds, &Ok(answer));
        assert_eq!((check.ok, check.actual.as_str()), (false, "one in header x-debug"));
    }
}
