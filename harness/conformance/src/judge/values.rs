//! Values of differences, drawn from what was observed.

use edgeproof_http::{Answer, NoAnswer};
use edgeproof_reports::difference::{
    AnswerValue, BodyChange, BodyForm, BodyValue, MemberChange, MemberValue, PageValue, Silence,
    SilenceReason, Wire,
};
use http::header::{CONTENT_TYPE, LOCATION};
use serde_json::{Map, Value};

use super::check::AnswerResult;

/// Additional members of a body that a difference names (maximum).
const ADDITIONAL: usize = 8;

/// Why there is no answer.
pub(crate) fn silence(why: &NoAnswer) -> Silence {
    let (reason, error) = match why {
        NoAnswer::NotConnected(error) => (SilenceReason::NotConnected, Some(error.into())),
        NoAnswer::NoSocket(error) => (SilenceReason::NoSocket, Some(error.into())),
        NoAnswer::NoTls(error) => (SilenceReason::NoTls, Some(error.to_string().into())),
        NoAnswer::Closed => (SilenceReason::Closed, None),
        NoAnswer::Reset => (SilenceReason::Reset, None),
        NoAnswer::TimedOut(_) => (SilenceReason::TimedOut, None),
        NoAnswer::NotHttp(error) => (SilenceReason::NotHttp, Some(error.into())),
    };
    let within_ms = match why {
        NoAnswer::TimedOut(within) => u64::try_from(within.as_millis()).ok(),
        _ => None,
    };
    Silence { reason, within_ms, error }
}

/// Status and body of an answer. `expected`: body with whose members those of the answer are compared.
pub(crate) fn answer_value(answer: &Answer, expected: Option<&Value>) -> AnswerValue {
    AnswerValue {
        status: answer.status,
        location: header(answer, LOCATION.as_str()),
        headers: None,
        body: Some(body_value(answer, expected)),
    }
}

/// An answer as a value of a page's difference, or why there is none.
pub(crate) fn page_answer(reply: &AnswerResult) -> PageValue {
    match reply {
        Ok(answer) => PageValue::Answer(answer_value(answer, None)),
        Err(why) => PageValue::Silence(silence(why)),
    }
}

/// Body of an answer. `expected`: body with whose members those of the answer are compared.
pub(super) fn body_value(answer: &Answer, expected: Option<&Value>) -> BodyValue {
    let actual: Option<Value> = serde_json::from_slice(&answer.body).ok();
    let members = match (expected, &actual) {
        (Some(Value::Object(expected)), Some(Value::Object(actual))) => members(expected, actual),
        _ => Vec::new(),
    };
    BodyValue {
        value: answer.body.as_ref().into(),
        form: form(&answer.body, actual.as_ref()),
        content_type: header(answer, CONTENT_TYPE.as_str()),
        complete: answer.complete,
        members,
    }
}

/// All values of a header, joined with commas as in the Fetch algorithm.
pub(super) fn values(answer: &Answer, name: &str) -> Option<String> {
    let values: Vec<_> =
        answer.headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// All values of a header.
pub(super) fn header(answer: &Answer, name: &str) -> Option<Wire> {
    values(answer, name).map(Wire::from)
}

pub(super) fn form(body: &[u8], json: Option<&Value>) -> BodyForm {
    match json {
        Some(json) if *json == serde_json::json!({"ok": true}) => return BodyForm::Accepted,
        Some(Value::Object(_)) => return BodyForm::Object,
        Some(_) => return BodyForm::Json,
        None => {}
    }
    let text = String::from_utf8_lossy(body).trim().to_ascii_lowercase();
    let is_html = ["<html", "<!doctype", "<body"].iter().any(|tag| text.contains(tag));
    match text.as_bytes().first() {
        None => BodyForm::Empty,
        Some(_) if is_html => BodyForm::Html,
        Some(b'{' | b'[') => BodyForm::BrokenJson,
        Some(_) => BodyForm::Text,
    }
}

/// Members that differ.
fn members(expected: &Map<String, Value>, actual: &Map<String, Value>) -> Vec<MemberValue> {
    let mut all = Vec::new();
    for (name, right) in expected {
        let change = match actual.get(name) {
            Some(wrong) if same(right, wrong) => continue,
            None => MemberChange::Missing,
            Some(wrong) => member_change(right, wrong),
        };
        all.push(MemberValue { path: pointer(name), change });
    }
    for name in actual.keys().filter(|name| !expected.contains_key(*name)).take(ADDITIONAL) {
        let lower = name.to_ascii_lowercase();
        let is_renamed = expected.keys().any(|right| lower.contains(&right.to_ascii_lowercase()));
        let change = if is_renamed { MemberChange::Renamed } else { MemberChange::Additional };
        all.push(MemberValue { path: pointer(name), change });
    }
    all
}

/// Path of a member (RFC 6901).
fn pointer(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// How the value of a member differs.
pub(super) fn member_change(right: &Value, wrong: &Value) -> MemberChange {
    match (right, wrong) {
        (Value::String(_), Value::String(wrong)) if wrong == "unknown" => MemberChange::Unknown,
        (Value::String(right), Value::String(wrong)) if right.eq_ignore_ascii_case(wrong) => {
            MemberChange::OtherCase
        }
        (Value::String(right), Value::String(wrong)) if is_respelled(right, wrong) => MemberChange::Respelled,
        (Value::String(_), Value::String(_)) | (Value::Number(_), Value::Number(_)) => MemberChange::Other,
        _ => MemberChange::AnotherType,
    }
}

/// Whether one code is a part of the other.
fn is_respelled(right: &str, wrong: &str) -> bool {
    right.len().min(wrong.len()) > 2 && (wrong.contains(right) || right.contains(wrong))
}

/// JSON equality: the order of members is free, and `401.0` equals `401`.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// What happened to a body on its way.
pub(super) fn body_change(sent: &[u8], arrived: &[u8]) -> BodyChange {
    let compact = |bytes: &[u8]| -> Vec<u8> {
        bytes.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
    };
    let holds = |whole: &[u8], part: &[u8]| memchr::memmem::find(whole, part).is_some();
    let json = |bytes| serde_json::from_slice::<Value>(bytes).ok();
    if sent == arrived {
        return BodyChange::None;
    }
    let (right, wrong) = (compact(sent), compact(arrived));
    match arrived {
        b"" => BodyChange::Empty,
        b"{}" => BodyChange::EmptyObject,
        _ if right == wrong => BodyChange::WhiteSpace,
        _ if json(sent).is_some_and(|sent| json(arrived) == Some(sent)) => BodyChange::WrittenAgain,
        _ if wrong.len() > right.len() && holds(&wrong, &right) => BodyChange::Wrapped,
        _ if wrong.len() < right.len() && holds(&right, &wrong) => BodyChange::Cut,
        _ => BodyChange::Changed,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::missing(json!({"error": "a"}), &[("/reason", MemberChange::Missing)])]
    #[case::renamed(
        json!({"error": "a", "reasonCode": "b"}),
        &[("/reason", MemberChange::Missing), ("/reasonCode", MemberChange::Renamed)]
    )]
    #[case::additional(json!({"error": "a", "reason": "b", "x/y": 1}), &[("/x~1y", MemberChange::Additional)])]
    #[case::unknown(json!({"error": "a", "reason": "unknown"}), &[("/reason", MemberChange::Unknown)])]
    #[case::upper_case(json!({"error": "a", "reason": "B"}), &[("/reason", MemberChange::OtherCase)])]
    #[case::wrong_type(json!({"error": "a", "reason": 7}), &[("/reason", MemberChange::AnotherType)])]
    #[case::code(json!({"error": "internal", "reason": "b"}), &[("/error", MemberChange::Other)])]
    fn differing_members_are_found(#[case] actual: Value, #[case] expected: &[(&str, MemberChange)]) {
        let (right, wrong) = (json!({"error": "a", "reason": "b"}), actual);
        let found = members(right.as_object().unwrap(), wrong.as_object().unwrap());
        let found: Vec<_> = found.iter().map(|member| (member.path.as_str(), member.change)).collect();
        assert_eq!(found, expected);
    }

    #[rstest]
    #[case::accepted(r#"{"ok":true}"#, BodyForm::Accepted)]
    #[case::html("<!DOCTYPE html>", BodyForm::Html)]
    #[case::text("nope", BodyForm::Text)]
    #[case::broken(r#"{"ok":"#, BodyForm::BrokenJson)]
    #[case::empty("", BodyForm::Empty)]
    #[case::list("[1]", BodyForm::Json)]
    fn body_has_a_form(#[case] body: &str, #[case] expected: BodyForm) {
        assert_eq!(form(body.as_bytes(), serde_json::from_str(body).ok().as_ref()), expected);
    }

    #[rstest]
    #[case::white_space(r#"{ "a":1}"#, r#"{"a":1}"#, BodyChange::WhiteSpace)]
    #[case::keys(r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#, BodyChange::WrittenAgain)]
    #[case::wrapped(r#"{"a":1}"#, r#"{"data":{"a":1}}"#, BodyChange::Wrapped)]
    #[case::cut(r#"{"a":1}"#, r#"{"a""#, BodyChange::Cut)]
    #[case::empty(r#"{"a":1}"#, "", BodyChange::Empty)]
    #[case::object("", "{}", BodyChange::EmptyObject)]
    #[case::same("a", "a", BodyChange::None)]
    fn relayed_body_is_named_by_its_change(
        #[case] sent: &str,
        #[case] arrived: &str,
        #[case] expected: BodyChange,
    ) {
        assert_eq!(body_change(sent.as_bytes(), arrived.as_bytes()), expected);
    }
}
