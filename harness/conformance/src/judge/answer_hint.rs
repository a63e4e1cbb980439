use edgeproof_http::Answer;
use http::header::{ALLOW, CONTENT_TYPE, LOCATION};
use serde_json::Value;

use super::answer::ExpectedAnswer;
use super::author::author;
use super::values::values;

/// How to fix an answer with another status or body than expected, if its form shows the mistake.
pub(super) fn answer_hint(expected: &ExpectedAnswer, answer: &Answer) -> Option<String> {
    let fix = if answer.status == expected.status {
        body_fix(expected, answer)
    } else {
        status_fix(expected, answer).map(str::to_owned)
    };
    let author = author(answer).map(|author| format!("{author} wrote this answer, not your handler"));
    match (fix, author) {
        (Some(fix), Some(author)) => Some(format!("{fix}; {author}")),
        (fix, author) => fix.or(author),
    }
}

/// The mistake behind another status.
fn status_fix(expected: &ExpectedAnswer, answer: &Answer) -> Option<&'static str> {
    let is_refusal = |body: &Value| body.get("reason").is_some() && body.get("status").is_some();
    let refused = expected.body.as_ref().is_some_and(is_refusal);
    // An answer of the edge's code, not of a framework after an exception.
    let is_own = serde_json::from_slice::<Value>(&answer.body).is_ok_and(|body| is_refusal(&body));
    let has_location = answer.headers.contains_key(LOCATION);
    Some(match (expected.status, answer.status) {
        (_, 300..=399) if has_location => {
            "the server redirects, for example to https or to a path with a slash: answer this path itself"
        }
        (405, 404) => {
            "the router knows the path for POST only: add a route for all other methods of this path"
        }
        (405, 200..=299) => {
            "compare the method with POST and OPTIONS first; answer every other method with 405"
        }
        (405, 501) => "the server refuses unknown methods with 501: let your handler answer them",
        (405, 500) => "the handler fails on this method: compare the method before anything else",
        (405, 403) => "a filter in front of the handler refuses this method: let your handler answer it",
        (405, 400 | 411 | 415 | 422) => "compare the method before the body is read",
        (502, 500) => {
            "the failed request to the service throws an error that nobody catches: catch it, and answer 502 with this body"
        }
        (502, 503 | 504) => "answer every failure to get an answer of the service with 502, timeouts too",
        (502, 200..=299) => "accept a collection only if the service accepted it",
        (_, 502) if refused => {
            "pass on the service's status and reason; many HTTP clients throw an error for a status above 399: catch it"
        }
        (_, 500) if refused && !is_own => {
            "the service's refusal throws an error that nobody catches: read its status and reason, and pass them on"
        }
        (_, 200..=299) if refused => {
            "the service refused the collection: answer with its status, not with success"
        }
        (200..=299, 404) => "no handler has this method and path: check the route",
        (200..=299, 405) => "the route does not take this method: check the route",
        (200..=299, 411) => "the server takes no body without Content-Length: allow chunked bodies",
        (200..=299, 413) => "a body limit of the server or framework refused it: raise the limit",
        (200..=299, 415) => "the framework parses bodies by their content type: read any body as bytes",
        (200..=299, 400 | 422) => {
            "the server or framework refused the request: relay every body, without parsing it"
        }
        (200..=299, 403) => {
            "a filter in front of the handler refused it, such as a CSRF check: exempt this path"
        }
        (200..=299, 500) => "the handler throws an error that nobody catches: read the edge's log",
        _ => return None,
    })
}

/// The mistake behind a body that is not the expected JSON.
fn body_fix(expected: &ExpectedAnswer, answer: &Answer) -> Option<String> {
    let body = expected.body.as_ref()?;
    if !answer.complete {
        return None;
    }
    match serde_json::from_slice::<Value>(&answer.body) {
        Ok(Value::String(text)) if serde_json::from_str::<Value>(&text).is_ok_and(|inner| inner == *body) => {
            Some("the JSON was serialised twice: answer with the object, not with its text".to_owned())
        }
        Ok(_) => None,
        Err(_) if answer.body.is_empty() => Some(format!("send the body {body}; an empty one arrived")),
        Err(_) => {
            let kind = if is_html(answer) { "an HTML page" } else { "text" };
            Some(format!("send {body} as the body; {kind} tells the page no reason"))
        }
    }
}

/// How to fix JSON that is declared as something else.
pub(super) fn content_type_hint(answer: &Answer) -> String {
    if serde_json::from_slice::<Value>(&answer.body).is_err() {
        let author = author(answer).map_or(String::new(), |author| format!("; {author} wrote this answer"));
        return format!("answer with JSON on every path and error{author}");
    }
    match values(answer, CONTENT_TYPE.as_str()) {
        None => "set Content-Type: application/json; the answer declares no type".to_owned(),
        Some(kind) => format!(
            "set Content-Type: application/json; the body is JSON, but declared as {kind}, the default of many frameworks \
             for strings"
        ),
    }
}

/// How to fix a missing `Allow`.
pub(super) fn allow_hint(answer: &Answer) -> Option<String> {
    (answer.status == 405 && !answer.headers.contains_key(ALLOW))
        .then(|| "add `Allow: POST, OPTIONS` to the 405 (RFC 9110 §15.5.6)".to_owned())
}

/// Whether the answer is an HTML page.
fn is_html(answer: &Answer) -> bool {
    let start: Vec<u8> = answer.body.trim_ascii_start().iter().take(14).map(u8::to_ascii_lowercase).collect();
    start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, HeaderName, HeaderValue, Version};
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn answer(status: u16, headers: &[(&'static str, &'static str)], body: &str) -> Answer {
        let fields = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let (headers, body) = (fields.collect::<HeaderMap>(), Bytes::copy_from_slice(body.as_bytes()));
        Answer { status, version: Version::HTTP_11, headers, body, complete: true }
    }

    fn expected(status: u16, body: Value) -> ExpectedAnswer {
        ExpectedAnswer { status, body: Some(body), to_head: false }
    }

    #[rstest]
    #[case::not_found(404, "Cannot PUT /v1/signals", Some("add a route for all other methods"))]
    #[case::ok(200, r#"{"ok":true}"#, Some("compare the method"))]
    #[case::not_implemented(501, "", Some("unknown methods with 501"))]
    #[case::crash(500, "Internal Server Error", Some("the handler fails on this method"))]
    #[case::csrf(403, "CSRF verification failed.", Some("filter in front of the handler"))]
    #[case::body_first(400, "", Some("before the body is read"))]
    #[case::text(405, "Method Not Allowed", Some("text tells the page no reason"))]
    #[case::page(405, "<!DOCTYPE HTML><title>405</title>", Some("an HTML page tells the page no reason"))]
    #[case::empty(405, "", Some("an empty one arrived"))]
    #[case::twice(405, r#""{\"error\":\"method_not_allowed\"}""#, Some("serialised twice"))]
    #[case::other_member(405, r#"{"message":"no"}"#, None)]
    fn missing_405_is_explained(#[case] status: u16, #[case] body: &str, #[case] hint: Option<&str>) {
        check(&expected(405, json!({"error": "method_not_allowed"})), &answer(status, &[], body), hint);
    }

    #[rstest]
    #[case::text(502, "Bad Gateway", Some("send {\"error\":\"service_unreachable\"} as the body; text"))]
    #[case::crash(500, "Internal Server Error", Some("catch it, and answer 502"))]
    #[case::gateway_timeout(504, "", Some("timeouts too"))]
    #[case::accepted(200, r#"{"ok":true}"#, Some("only if the service accepted it"))]
    #[case::other(418, "", None)]
    fn wrong_502_is_explained(#[case] status: u16, #[case] body: &str, #[case] hint: Option<&str>) {
        check(&expected(502, json!({"error": "service_unreachable"})), &answer(status, &[], body), hint);
    }

    #[rstest]
    #[case::client_throws(
        502,
        r#"{"error":"service_unreachable"}"#,
        Some("throw an error for a status above 399")
    )]
    #[case::uncaught(500, "", Some("that nobody catches"))]
    #[case::own_answer(500, r#"{"error":"service_rejected","reason":"revoked","status":500}"#, None)]
    #[case::accepted(200, r#"{"ok":true}"#, Some("not with success"))]
    #[case::other_reason(401, r#"{"error":"service_rejected","reason":"unknown","status":401}"#, None)]
    fn lost_refusal_is_explained(#[case] status: u16, #[case] body: &str, #[case] hint: Option<&str>) {
        let refused = json!({"error": "service_rejected", "reason": "revoked", "status": 401});
        check(&expected(401, refused), &answer(status, &[], body), hint);
    }

    #[rstest]
    #[case::redirect(308, &[("location", "/v1/signals/")], Some("redirects"))]
    #[case::route(404, &[], Some("check the route"))]
    #[case::limit(413, &[], Some("raise the limit"))]
    #[case::type_of_the_body(415, &[], Some("read any body as bytes"))]
    #[case::validated(422, &[], Some("without parsing it"))]
    #[case::csrf(403, &[], Some("CSRF"))]
    #[case::length(411, &[], Some("allow chunked bodies"))]
    #[case::unknown(418, &[], None)]
    fn refused_collection_is_explained(
        #[case] status: u16,
        #[case] headers: &[(&'static str, &'static str)],
        #[case] hint: Option<&str>,
    ) {
        check(&expected(200, json!({"ok": true})), &answer(status, headers, ""), hint);
    }

    #[rstest]
    #[case::html(&[("content-type", "text/html; charset=utf-8")], r#"{"ok":true}"#, "declared as text/html; charset=utf-8")]
    #[case::none(&[], "{}", "declares no type")]
    #[case::page(&[("content-type", "text/html"), ("x-powered-by", "Express")], "<html>", "every path and error; Express wrote")]
    fn wrong_content_type_is_explained(
        #[case] headers: &[(&'static str, &'static str)],
        #[case] body: &str,
        #[case] hint: &str,
    ) {
        let found = content_type_hint(&answer(404, headers, body));
        assert!(found.contains(hint), "{found}");
    }

    #[test]
    fn author_is_named_after_the_fix() {
        let body = json!({"error": "method_not_allowed"});
        let page = answer(404, &[("x-powered-by", "Express")], "<pre>Cannot PUT /</pre>");
        let hint = answer_hint(&expected(405, body), &page).unwrap();
        assert!(hint.ends_with("of this path; Express wrote this answer, not your handler"), "{hint}");
    }

    fn check(expected: &ExpectedAnswer, answer: &Answer, hint: Option<&str>) {
        let found = answer_hint(expected, answer);
        assert_eq!(found.is_some(), hint.is_some(), "{found:?}");
        assert!(found.as_deref().unwrap_or_default().contains(hint.unwrap_or_default()), "{found:?}");
    }
}
