use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::difference::{
    AnswerSubject, BodyForm, BodyRule, BodyValue, DifferenceKind, MemberChange, MemberValue,
};
use serde_json::Value;

use super::answer::whole;
use super::check::{AnswerResult, Check};
use super::values::{answer_value, body_value, member_change};

/// A reason code of the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasonCode {
    /// The code as in the table.
    pub text: String,
    /// A colon and a suffix follow the code.
    pub suffixed: bool,
    /// Status of the refusals with this code.
    pub status: u16,
}

/// The JSON body contains one of these codes, in any member: the interface does not show which (7.4).
pub fn has_code(codes: &[ReasonCode], reply: &AnswerResult) -> Check {
    let names: Vec<String> = codes.iter().map(ToString::to_string).collect();
    let kind = |actual| DifferenceKind::Body { expected: BodyRule::Codes(names.clone()), actual };
    let answer = match reply {
        Ok(answer) => answer,
        Err(why) => return Check::unanswered(why, kind(None)),
    };
    let mut actual = body_value(answer, None);
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else {
        return Check::judged(kind(Some(actual)), false);
    };
    let ok = find_code(codes, &body).is_some();
    if !ok && actual.form == BodyForm::Object {
        // Most services write the code in this member.
        let right = Value::from(names.last().cloned().unwrap_or_default());
        let change = body.get("error").map_or(MemberChange::Missing, |wrong| member_change(&right, wrong));
        actual = BodyValue { members: vec![MemberValue { path: "/error".into(), change }], ..actual };
    }
    let check = Check::judged(kind(Some(actual)), ok);
    // An answer with another status is no such refusal: its spelling is not the fault.
    if check.ok || codes.iter().all(|code| code.status != answer.status) {
        return check;
    }
    check.advise(Advice::CodeMisspelled)
}

/// The path of the member that contains one of these codes, such as `error.code`, and the code. `[]` is an array element.
pub fn find_code<'c>(codes: &'c [ReasonCode], body: &Value) -> Option<(String, &'c ReasonCode)> {
    find(codes, body, &mut Vec::new())
}

/// Two answers have the same status and the same JSON body. `subject` names the first one.
pub fn same_answer(subject: AnswerSubject, first: &AnswerResult, second: &AnswerResult) -> Check {
    let same = match (first, second) {
        (Ok(first), Ok(second)) => first.status == second.status && same_body(&first.body, &second.body),
        _ => false,
    };
    let expected = first.as_ref().map(|answer| answer_value(answer, None)).into_iter().collect();
    let body = first.as_ref().ok().and_then(|answer| serde_json::from_slice(&answer.body).ok());
    whole(subject, expected, second, body.as_ref(), same).against(first)
}

fn same_body(first: &[u8], second: &[u8]) -> bool {
    let value = |body| serde_json::from_slice::<Value>(body).ok();
    first == second || value(first).is_some_and(|first| value(second) == Some(first))
}

fn find<'c>(
    codes: &'c [ReasonCode],
    value: &Value,
    path: &mut Vec<String>,
) -> Option<(String, &'c ReasonCode)> {
    let mut below = |name: String, value: &Value| {
        path.push(name);
        let found = find(codes, value, path);
        path.pop();
        found
    };
    match value {
        Value::String(text) => {
            let code = codes.iter().find(|code| code.is_in(text))?;
            Some((path.join("."), code))
        }
        Value::Array(items) => items.iter().find_map(|item| below("[]".into(), item)),
        Value::Object(members) => members.iter().find_map(|(name, value)| below(name.clone(), value)),
        _ => None,
    }
}

impl ReasonCode {
    /// The text contains the code as a separate word, with its suffix if it has one and without any if it has none.
    fn is_in(&self, text: &str) -> bool {
        let inside = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        text.match_indices(&self.text).any(|(at, code)| {
            let (before, after) = (&text[..at], &text[at + code.len()..]);
            let begins = !before.ends_with(inside);
            // A colon before a space belongs to a sentence.
            let is_suffix = |text: &str| text.starts_with(|letter: char| !letter.is_whitespace());
            let has_suffix = after.strip_prefix(':').is_some_and(is_suffix);
            begins && has_suffix == self.suffixed && !after.starts_with(inside)
        })
    }
}

impl std::fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)?;
        if self.suffixed { f.write_str(":<suffix>") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use edgeproof_http::Answer;
    use http::{HeaderMap, Version};
    use rstest::rstest;

    use super::*;

    fn codes() -> [ReasonCode; 2] {
        let code = |text: &str, suffixed| ReasonCode { text: text.into(), suffixed, status: 401 };
        [code("bad_footer", false), code("unknown_kid", true)]
    }

    #[rstest]
    #[case::refusal(401, true)]
    #[case::server_error(500, false)]
    #[case::other_refusal(403, false)]
    fn spelling_is_advised_under_the_status_of_the_codes(#[case] status: u16, #[case] advised: bool) {
        let body = Bytes::from_static(br#"{"error":"internal"}"#);
        let answer =
            Answer { status, version: Version::HTTP_11, headers: HeaderMap::new(), body, complete: true };
        let check = has_code(&codes(), &Ok(answer));
        assert!(!check.ok);
        assert_eq!(!check.advice.is_empty(), advised);
    }

    #[rstest]
    #[case::error(r#"{"error":"bad_footer"}"#, Some("error"))]
    #[case::reason(r#"{"error":"unauthorized","reason":"bad_footer"}"#, Some("reason"))]
    #[case::nested(r#"{"errors":[{"code":"bad_footer"}]}"#, Some("errors.[].code"))]
    #[case::in_a_sentence(r#"{"message":"read token refused (bad_footer)"}"#, Some("message"))]
    #[case::text(r#""bad_footer""#, Some(""))]
    #[case::suffix(r#"{"error":"unknown_kid:k-7"}"#, Some("error"))]
    #[case::without_its_suffix(r#"{"error":"unknown_kid"}"#, None)]
    #[case::with_an_empty_suffix(r#"{"error":"unknown_kid:"}"#, None)]
    #[case::with_a_suffix_too_many(r#"{"error":"bad_footer:k-7"}"#, None)]
    #[case::before_a_colon(r#"{"message":"bad_footer: the footer is no JSON"}"#, Some("message"))]
    #[case::as_part_of_a_word(r#"{"error":"not_bad_footer"}"#, None)]
    #[case::other_case(r#"{"error":"BAD_FOOTER"}"#, None)]
    #[case::as_a_name(r#"{"bad_footer":true}"#, None)]
    fn code_is_found_in_any_member(#[case] body: &str, #[case] place: Option<&str>) {
        let body = serde_json::from_str(body).unwrap();
        let codes = codes();
        assert_eq!(find_code(&codes, &body).map(|(place, _)| place).as_deref(), place);
    }
}
