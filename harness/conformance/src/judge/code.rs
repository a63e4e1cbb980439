use serde_json::Value;

use super::check::{AnswerResult, Check, excerpt};

/// A reason code of the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasonCode {
    /// As the table spells it.
    pub text: String,
    /// A colon and a suffix follow.
    pub suffixed: bool,
}

/// One of these codes stands anywhere in the JSON body: the interface does not show in which member (7.4).
pub fn has_code(codes: &[ReasonCode], reply: &AnswerResult) -> Check {
    let words: Vec<String> = codes.iter().map(ToString::to_string).collect();
    let expected = format!("JSON with {}", words.join(" or "));
    let answer = match reply {
        Ok(answer) => answer,
        Err(why) => return Check::new("answer", expected, why.to_string(), false),
    };
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else {
        let actual = format!("not JSON: {}", excerpt(&answer.body));
        return Check::new("reason code", expected, actual, false);
    };
    let check = |ok| Check::new("reason code", expected, excerpt(&answer.body), ok);
    match find_code(codes, &body) {
        Some(_) => check(true),
        None => check(false).hint(
            "the code has to stand in the body exactly as the interface spells it, in any member; one with a suffix has a colon \
             before it",
        ),
    }
}

/// The member in which one of these codes stands, such as `error.code`, and the code. In an array, `[]` stands for any
/// place.
pub fn find_code<'c>(codes: &'c [ReasonCode], body: &Value) -> Option<(String, &'c ReasonCode)> {
    find(codes, body, &mut Vec::new())
}

/// Two answers that nothing tells apart: the same status and, as JSON, the same body. `words` says whose the first is.
pub fn same_answer(words: &str, first: &AnswerResult, second: &AnswerResult) -> Check {
    let told = |reply: &AnswerResult| match reply {
        Ok(answer) => format!("{} {}", answer.status, excerpt(&answer.body)),
        Err(why) => why.to_string(),
    };
    let same = match (first, second) {
        (Ok(first), Ok(second)) => first.status == second.status && same_body(&first.body, &second.body),
        _ => false,
    };
    Check::new(&format!("answer, compared with {words}"), told(first), told(second), same)
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
            let code = codes.iter().find(|code| code.stands_in(text))?;
            Some((path.join("."), code))
        }
        Value::Array(items) => items.iter().find_map(|item| below("[]".into(), item)),
        Value::Object(members) => members.iter().find_map(|(name, value)| below(name.clone(), value)),
        _ => None,
    }
}

impl ReasonCode {
    /// It stands in the text as a word of its own, with a suffix where it has one.
    fn stands_in(&self, text: &str) -> bool {
        let inside = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        text.match_indices(&self.text).any(|(at, code)| {
            let (before, after) = (&text[..at], &text[at + code.len()..]);
            let begins = !before.ends_with(inside);
            let ends = if self.suffixed {
                after.strip_prefix(':').is_some_and(|suffix| suffix.starts_with(|c: char| !c.is_whitespace()))
            } else {
                !after.starts_with(inside)
            };
            begins && ends
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
    use rstest::rstest;

    use super::*;

    fn codes() -> [ReasonCode; 2] {
        let code = |text: &str, suffixed| ReasonCode { text: text.into(), suffixed };
        [code("bad_footer", false), code("unknown_kid", true)]
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
    #[case::as_part_of_a_word(r#"{"error":"not_bad_footer"}"#, None)]
    #[case::other_case(r#"{"error":"BAD_FOOTER"}"#, None)]
    #[case::as_a_name(r#"{"bad_footer":true}"#, None)]
    fn finds_a_code_anywhere(#[case] body: &str, #[case] place: Option<&str>) {
        let body = serde_json::from_str(body).unwrap();
        let codes = codes();
        assert_eq!(find_code(&codes, &body).map(|(place, _)| place).as_deref(), place);
    }
}
