//! Symptoms: how a case fails, as a class of differences that is the same for every target, port and body.

use std::collections::BTreeSet;

use edgeproof_reports::Mismatch;
use serde_json::{Map, Value};

/// Longest difference in words.
const LONGEST: usize = 48;

/// How a case fails: the compared things and the kind of each difference, such as `body: reason missing`.
pub type Symptoms = BTreeSet<String>;

/// The symptoms of a case with these mismatches. They hold no names, addresses, numbers or bodies of one run.
pub fn symptoms(mismatches: &[Mismatch]) -> Symptoms {
    mismatches.iter().flat_map(of_mismatch).collect()
}

fn of_mismatch(mismatch: &Mismatch) -> Vec<String> {
    // Cases with several answers name the answer after the compared thing.
    let thing = mismatch.what.split(" of ").next().unwrap_or_default();
    let (expected, actual) = (mismatch.expected.trim(), mismatch.actual.trim());
    if let Some(none) = without_answer(actual) {
        return vec![none.to_owned()];
    }
    match thing {
        "status" => status(expected, actual),
        "body" | "reason code" => body(expected, actual),
        "body at the service" => vec![format!("{thing}: {}", relayed(expected, actual))],
        "exchanges" => Vec::new(),
        _ => {
            answer(expected, actual).unwrap_or_else(|| vec![format!("{thing}: {}", words(expected, actual))])
        }
    }
}

/// The difference where no answer came.
fn without_answer(actual: &str) -> Option<&'static str> {
    let has = |text: &str| actual.contains(text);
    if has("closed without an answer") || has("reset") || has("answer ended early") {
        Some("answer: connection closed")
    } else if has("timeout") || has("no answer within") || has("timed out") {
        Some("answer: none in time")
    } else {
        None
    }
}

/// Statuses: the expected one, and the class of the actual one.
fn status(expected: &str, actual: &str) -> Vec<String> {
    let code = |text: &str| text.get(..3).and_then(|text| text.parse::<u16>().ok());
    let Some(actual) = code(actual) else { return vec![format!("status: {}", words(expected, actual))] };
    let class = actual / 100;
    match code(expected) {
        Some(expected) => vec![
            format!("status: {expected} became {class}xx"),
            format!("status: {}xx became {class}xx", expected / 100),
            format!("status: {actual}"),
        ],
        None => vec![format!("status: became {class}xx"), format!("status: {actual}")],
    }
}

/// A whole answer: status, space, body.
fn answer(expected: &str, actual: &str) -> Option<Vec<String>> {
    let parts = |text: &str| {
        let (code, body) = text.split_once(' ').unwrap_or((text, ""));
        let is_code = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_digit());
        is_code.then(|| (code.to_owned(), body.to_owned()))
    };
    let ((right, right_body), (wrong, wrong_body)) = (parts(expected)?, parts(actual)?);
    let mut all = Vec::new();
    if right != wrong {
        all.extend(status(&right, &wrong));
    }
    if right_body != wrong_body {
        all.extend(body(&right_body, &wrong_body));
    }
    (!all.is_empty()).then_some(all)
}

/// Bodies of answers, member by member.
fn body(expected: &str, actual: &str) -> Vec<String> {
    let actual = actual
        .strip_prefix("not JSON")
        .and_then(|rest| rest.split_once(": "))
        .map_or(actual, |(_, text)| text);
    let Ok(actual_value) = serde_json::from_str::<Value>(cut(actual)) else {
        return vec![format!("body: {}", text_kind(actual))];
    };
    if actual_value == serde_json::json!({"ok": true}) {
        return vec!["body: accepted".to_owned()];
    }
    let Value::Object(actual) = actual_value else { return vec!["body: another JSON value".to_owned()] };
    if let Ok(Value::Object(expected)) = serde_json::from_str(cut(expected)) {
        return members(&expected, &actual);
    }
    // The expected code in words, such as `JSON with bad_footer`.
    let right = Value::from(expected.rsplit(' ').next().unwrap_or_default());
    vec![format!("body: error {}", actual.get("error").map_or("missing", |wrong| member(&right, wrong)))]
}

fn cut(text: &str) -> &str {
    text.split_once("… (").map_or(text, |(start, _)| start)
}

fn text_kind(text: &str) -> &'static str {
    let lower = text.to_ascii_lowercase();
    match lower.as_str() {
        "nothing" | "" | "an empty body" => "empty",
        html if html.contains("<html") || html.contains("<!doctype") || html.contains("<body") => "HTML",
        json if json.starts_with(['{', '[']) => "broken JSON",
        _ => "text",
    }
}

fn members(expected: &Map<String, Value>, actual: &Map<String, Value>) -> Vec<String> {
    let mut all = Vec::new();
    for (name, right) in expected {
        let kind = match actual.get(name) {
            Some(wrong) if wrong == right => continue,
            None => "missing",
            Some(wrong) => member(right, wrong),
        };
        all.push(format!("body: {name} {kind}"));
    }
    let more = actual.keys().filter(|name| !expected.contains_key(*name));
    all.extend(
        more.map(|name| if is_renamed(name, expected) { "renamed" } else { "additional" })
            .map(|kind| format!("body: member {kind}")),
    );
    all
}

fn is_renamed(name: &str, expected: &Map<String, Value>) -> bool {
    let name = name.to_ascii_lowercase();
    expected.keys().any(|right| name.contains(&right.to_ascii_lowercase()))
}

fn member(right: &Value, wrong: &Value) -> &'static str {
    match (right, wrong) {
        (Value::String(_), Value::String(wrong)) if wrong == "unknown" => "unknown",
        (Value::String(right), Value::String(wrong)) if right.eq_ignore_ascii_case(wrong) => "in other case",
        (Value::String(right), Value::String(wrong)) if is_respelled(right, wrong) => "respelled",
        (Value::String(_), Value::String(_)) | (Value::Number(_), Value::Number(_)) => "other",
        _ => "of another type",
    }
}

/// Whether one code is a part of the other.
fn is_respelled(right: &str, wrong: &str) -> bool {
    right.len().min(wrong.len()) > 2 && (wrong.contains(right) || right.contains(wrong))
}

/// What happened to a body on its way.
fn relayed(expected: &str, actual: &str) -> &'static str {
    let (right, wrong) = (compact(expected), compact(actual));
    match actual {
        "an empty body" | "nothing" => "empty",
        "{}" => "an empty object",
        _ if right == wrong && expected != actual => "white space changed",
        _ if same_json(expected, actual) => "JSON written again",
        _ if wrong.len() > right.len() && wrong.contains(&right) => "more around it",
        _ if wrong.len() < right.len() && right.contains(&wrong) => "cut",
        _ => "changed",
    }
}

fn compact(text: &str) -> String {
    text.replace("\\r", "")
        .replace("\\n", "")
        .replace("\\t", "")
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect()
}

fn same_json(one: &str, other: &str) -> bool {
    let parse = |text: &str| serde_json::from_str::<Value>(text).ok();
    matches!((parse(one), parse(other)), (Some(one), Some(other)) if one == other)
}

/// The first finding in words, without what differs from run to run.
fn words(expected: &str, actual: &str) -> String {
    let header = |text: &str| text.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
    if let (Some((right, _)), Some((wrong, value))) = (header(expected), header(actual))
        && right == wrong
    {
        return format!("{wrong}: {}", plain(&value));
    }
    let first = actual.split(';').next().unwrap_or_default();
    let first = first.split(" (case ").next().unwrap_or_default();
    if first.starts_with("line ") {
        // The rest is a line of the target's log.
        return "a line".to_owned();
    }
    plain(first)
}

/// Text with a `#` in place of each word that holds a digit, quote, slash or underscore of an address or a body.
fn plain(text: &str) -> String {
    let is_name = |word: &str| {
        word.contains(|c: char| c.is_ascii_digit() || "/\"{}[]=.@".contains(c)) || word.len() > 32
    };
    let mut all: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        let word = if is_name(word) { "#" } else { word };
        if word != "#" || all.last() != Some(&"#") {
            all.push(word);
        }
    }
    all.join(" ").chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use edgeproof_reports::CaseLevel;
    use rstest::rstest;

    use super::*;

    fn check(what: &str, expected: &str, actual: &str, symptoms: &[&str]) {
        let (what, expected, actual) = (what.to_owned(), expected.to_owned(), actual.to_owned());
        let mismatch = Mismatch { what, expected, actual, hint: None, level: CaseLevel::Must };
        let found: Vec<String> = super::symptoms(&[mismatch]).into_iter().collect();
        assert_eq!(found, symptoms);
    }

    #[rstest]
    #[case::other_class("405", "200", &["status: 200", "status: 405 became 2xx", "status: 4xx became 2xx"])]
    #[case::same_class("401", "403", &["status: 401 became 4xx", "status: 403", "status: 4xx became 4xx"])]
    #[case::range("200 to 299", "503", &["status: 200 became 5xx", "status: 2xx became 5xx", "status: 503"])]
    #[case::closed("401", "connection closed without an answer", &["answer: connection closed"])]
    fn status_is_a_pair_of_classes(#[case] expected: &str, #[case] actual: &str, #[case] symptoms: &[&str]) {
        check("status of 401 revoked", expected, actual, symptoms);
    }

    #[rstest]
    #[case::missing(r#"{"error":"a"}"#, &["body: reason missing"])]
    #[case::renamed(r#"{"error":"a","reasonCode":"b"}"#, &["body: member renamed", "body: reason missing"])]
    #[case::additional(r#"{"error":"a","reason":"b","x":1}"#, &["body: member additional"])]
    #[case::unknown(r#"{"error":"a","reason":"unknown"}"#, &["body: reason unknown"])]
    #[case::upper_case(r#"{"error":"a","reason":"B"}"#, &["body: reason in other case"])]
    #[case::wrong_type(r#"{"error":"a","reason":7}"#, &["body: reason of another type"])]
    #[case::code(r#"{"error":"internal","reason":"b"}"#, &["body: error other"])]
    #[case::accepted(r#"{"ok":true}"#, &["body: accepted"])]
    #[case::html("not JSON (text/html): <!DOCTYPE html>", &["body: HTML"])]
    #[case::text("not JSON: nope", &["body: text"])]
    #[case::empty("nothing", &["body: empty"])]
    fn body_is_compared_by_member(#[case] actual: &str, #[case] symptoms: &[&str]) {
        check("body", r#"{"error":"a","reason":"b"}"#, actual, symptoms);
    }

    #[rstest]
    #[case::white_space(r#"{ "a":1}"#, r#"{"a":1}"#, "white space changed")]
    #[case::keys(r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#, "JSON written again")]
    #[case::wrapped(r#"{"a":1}"#, r#"{"data":{"a":1}}"#, "more around it")]
    #[case::cut(r#"{"a":1}"#, r#"{"a""#, "cut")]
    #[case::empty(r#"{"a":1}"#, "an empty body", "empty")]
    #[case::object("an empty body", "{}", "an empty object")]
    fn relayed_body_is_named_by_its_change(#[case] sent: &str, #[case] arrived: &str, #[case] change: &str) {
        check("body at the service", sent, arrived, &[&format!("body at the service: {change}")]);
    }

    #[rstest]
    #[case::header(
        "Access-Control-Allow-Origin: https://a.example",
        "no such header",
        "header: no such header"
    )]
    #[case::granted(
        "no grant to null",
        "Access-Control-Allow-Origin: null",
        "header: Access-Control-Allow-Origin: null"
    )]
    #[case::origin("x: y", "x: https://a.example", "header: x: #")]
    #[case::first_of_list(
        "none",
        "one in request 1 (case a.b); one in request 2",
        "header: one in request #"
    )]
    fn other_findings_lose_names_and_numbers(
        #[case] expected: &str,
        #[case] actual: &str,
        #[case] symptom: &str,
    ) {
        check("header of a refusal", expected, actual, &[symptom]);
    }

    #[test]
    fn whole_answer_is_status_and_body() {
        check(
            "answer",
            r#"401 {"error":"unauthorized"}"#,
            "404 nothing",
            &["body: empty", "status: 401 became 4xx", "status: 404", "status: 4xx became 4xx"],
        );
    }
}
