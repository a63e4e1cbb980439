use http::header::CONTENT_TYPE;
use serde_json::Value;

use super::check::{AnswerResult, Check, excerpt};
use edgeproof_http::{Answer, NoAnswer};

/// Members too many that are named.
const NAMED: usize = 4;

/// An answer that the interface gives.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedAnswer {
    /// Status code.
    pub status: u16,
    /// Exact JSON body. None: the body is not looked at.
    pub body: Option<Value>,
    /// The request was `HEAD`: no body, whatever it would be.
    pub to_head: bool,
}

/// The answer has exactly this status and this body: other key order and white space pass, another member does not.
pub fn exact(expected: &ExpectedAnswer, reply: &AnswerResult) -> Vec<Check> {
    let answer = match reply {
        Ok(answer) => answer,
        Err(why) => return vec![Check::new("answer", expected.to_string(), why.to_string(), false)],
    };
    let mut checks = vec![status(expected.status, answer)];
    if let Some(body) = expected.body.as_ref().filter(|_| !expected.to_head) {
        checks.push(body_is(body, answer));
    }
    checks
}

/// The status is one of these; `words` says which.
pub fn status_in(words: &str, fits: impl Fn(u16) -> bool, reply: &AnswerResult) -> Check {
    match reply {
        Ok(answer) => Check::new("status", words, answer.status.to_string(), fits(answer.status)),
        Err(why) => Check::new("answer", words, why.to_string(), false),
    }
}

/// The body is JSON, whatever it says.
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

/// Whatever the answer is, it is one, and not an error of the server.
pub fn no_server_error(reply: &AnswerResult) -> Check {
    status_in("an answer, and none of 500 to 599", |status| status < 500, reply)
}

/// A header's value satisfies `fits`, which `words` says.
pub fn header_has(name: &str, words: &str, fits: impl Fn(&str) -> bool, reply: &AnswerResult) -> Check {
    let what = format!("header {name}");
    match reply {
        Ok(answer) => {
            let value = values(answer, name);
            let ok = value.as_deref().is_some_and(&fits);
            Check::new(&what, words, value.unwrap_or_else(|| "no such header".into()), ok)
        }
        Err(why) => Check::new(&what, words, why.to_string(), false),
    }
}

/// The answer says that its body is JSON (RFC 9110 §8.3).
pub fn json_content_type(reply: &Result<Answer, NoAnswer>) -> Check {
    let is_json = |value: &str| {
        let kind = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
    };
    header_has("content-type", "application/json", is_json, reply)
}

/// What an edge holds and a page must never see.
pub const EDGE_SECRETS: &str = "license and no private key";

/// No secret is anywhere in the answer. `finds` knows them, in whatever way they are written; none is reported.
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
        .hint("an answer goes to a browser: whoever reads it there could use the credential as their own")
}

impl std::fmt::Display for ExpectedAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.body {
            Some(body) if !self.to_head => write!(f, "{} {body}", self.status),
            _ => write!(f, "{}", self.status),
        }
    }
}

/// All values of a header, joined as the Fetch algorithm joins them.
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
        return check(format!("{}, cut off", excerpt(&answer.body)), false);
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

/// Equal as JSON: the order of members does not count, and `401.0` is `401`.
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

/// In words, what tells two objects apart, member by member.
fn difference(expected: &Value, actual: &Value) -> Option<String> {
    let (Value::Object(expected), Value::Object(actual)) = (expected, actual) else { return None };
    let mut words = Vec::new();
    for (key, value) in expected {
        match actual.get(key) {
            None => words.push(format!("\"{key}\" is missing")),
            Some(other) if same(value, other) => {}
            Some(other) if other.as_str() == Some(&value.to_string()) => {
                words.push(format!("\"{key}\" is text, it should be the number {value}"));
            }
            Some(other) => words.push(format!(
                "\"{key}\" is {}, it should be {value}",
                excerpt(other.to_string().as_bytes())
            )),
        }
    }
    let mut more = actual.keys().filter(|key| !expected.contains_key(*key));
    for key in more.by_ref().take(NAMED) {
        words.push(format!("\"{}\" is one member too many", excerpt(key.as_bytes())));
    }
    if let others @ 1.. = more.count() {
        words.push(format!("and so are {others} others"));
    }
    (!words.is_empty()).then(|| words.join("; "))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, Version};
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[expect(clippy::unnecessary_wraps, reason = "what is judged is a reply, with an answer or without")]
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
        Some("\"status\" is text, it should be the number 401")
    )]
    #[case::missing(r#"{"error":"service_rejected","status":401}"#, Some("\"reason\" is missing"))]
    #[case::extra(
        r#"{"error":"service_rejected","reason":"revoked","status":401,"ok":false}"#,
        Some("\"ok\" is one member too many")
    )]
    #[case::other_code(
        r#"{"error":"service_rejected","reason":"Revoked","status":401}"#,
        Some("\"reason\" is \"Revoked\", it should be \"revoked\"")
    )]
    fn compares_bodies(#[case] body: &str, #[case] hint: Option<&str>) {
        let expected = json!({"error": "service_rejected", "reason": "revoked", "status": 401});
        let expected = ExpectedAnswer { status: 401, body: Some(expected), to_head: false };
        let checks = exact(&expected, &reply(401, body));
        assert!(checks[0].ok);
        assert_eq!(checks[1].ok, hint.is_none());
        assert_eq!(checks[1].hint.as_deref(), hint);
    }

    #[test]
    fn reports_status_and_body_together() {
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
                hint: None,
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

    #[test]
    fn finds_a_secret_without_repeating_it() {
        let mut answer = reply(200, "{}").unwrap();
        answer.headers.insert("x-debug", "Bearer hunter2".parse().unwrap());
        let finds = |bytes: &[u8]| bytes.windows(7).any(|window| window == b"hunter2");
        let check = no_secrets(EDGE_SECRETS, finds, &Ok(answer));
        assert_eq!((check.ok, check.actual.as_str()), (false, "one in header x-debug"));
    }
}
