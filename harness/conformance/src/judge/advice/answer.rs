use edgeproof_fixtures::spec::Advice;
use edgeproof_http::Answer;
use http::header::{ALLOW, CONTENT_TYPE, LOCATION};
use serde_json::Value;

use crate::judge::answer::ExpectedAnswer;
use crate::judge::author::author;
use crate::judge::coding::is_miscoded;
use crate::judge::values::values;

/// Advice for an answer with another status or body than expected, if its form shows the mistake.
pub(in crate::judge) fn answer_advice(expected: &ExpectedAnswer, answer: &Answer) -> Vec<Advice> {
    let fix = if answer.status == expected.status {
        body_fix(expected, answer)
    } else {
        status_fix(expected, answer)
    };
    let author = author(answer).map(|name| Advice::WrittenByFramework { framework: name.to_owned() });
    fix.into_iter().chain(author).collect()
}

/// The mistake behind another status.
fn status_fix(expected: &ExpectedAnswer, answer: &Answer) -> Option<Advice> {
    let is_refusal = |body: &Value| body.get("reason").is_some() && body.get("status").is_some();
    let refused = expected.body.as_ref().is_some_and(is_refusal);
    // The edge's own answer without a service, whose status is that of the version.
    let is_own_error = !refused && expected.status >= 500;
    // An answer of the edge's code, not of a framework after an exception.
    let is_own = serde_json::from_slice::<Value>(&answer.body).is_ok_and(|body| is_refusal(&body));
    let has_location = answer.headers.contains_key(LOCATION);
    Some(match (expected.status, answer.status) {
        (_, 300..=399) if has_location => Advice::Redirects,
        (405, 404) => Advice::OtherMethodsUnrouted,
        (405, 200..=299) => Advice::OtherMethodsAccepted,
        (405, 501) => Advice::OtherMethodsNotImplemented,
        (405, 500) => Advice::OtherMethodsFail,
        (405, 403) => Advice::OtherMethodsFiltered,
        (405, 400 | 411 | 415 | 422) => Advice::OtherMethodsAfterBody,
        (_, 500) if is_own_error => Advice::UnreachableUncaught,
        (_, 502..=504) if is_own_error => Advice::UnreachableByStatus,
        (_, 200..=299) if is_own_error => Advice::UnreachableAccepted,
        (_, 502) if refused => Advice::RefusalAsUnreachable,
        (_, 500) if refused && !is_own => Advice::RefusalUncaught,
        (_, 200..=299) if refused => Advice::RefusalAccepted,
        (200..=299, 404) => Advice::RouteMissing,
        (200..=299, 405) => Advice::RouteRefusesMethod,
        (200..=299, 411) => Advice::ChunkedRefused,
        (200..=299, 413) => Advice::BodyLimited,
        (200..=299, 415) => Advice::ContentTypeRefused,
        (200..=299, 400 | 422) => Advice::BodyRefused,
        (200..=299, 403) => Advice::RequestFiltered,
        (200..=299, 500) => Advice::HandlerFails,
        _ => return None,
    })
}

/// The mistake behind a body that is not the expected JSON.
fn body_fix(expected: &ExpectedAnswer, answer: &Answer) -> Option<Advice> {
    let body = expected.body.as_ref()?;
    if is_miscoded(answer) {
        return Some(Advice::CodedLength);
    }
    if !answer.complete {
        return None;
    }
    let text = || (&body.to_string()).into();
    match serde_json::from_slice::<Value>(&answer.body) {
        Ok(Value::String(text)) if serde_json::from_str::<Value>(&text).is_ok_and(|inner| inner == *body) => {
            Some(Advice::JsonSerialisedTwice)
        }
        Ok(_) => None,
        Err(_) if answer.body.is_empty() => Some(Advice::BodyMissing { body: text() }),
        Err(_) if is_html(answer) => Some(Advice::BodyIsPage { body: text() }),
        Err(_) => Some(Advice::BodyIsText { body: text() }),
    }
}

/// Advice for JSON that is declared as something else.
pub(in crate::judge) fn content_type_advice(answer: &Answer) -> Advice {
    if serde_json::from_slice::<Value>(&answer.body).is_err() {
        return Advice::ErrorNotJson { framework: author(answer).map(str::to_owned) };
    }
    match values(answer, CONTENT_TYPE.as_str()) {
        None => Advice::ContentTypeMissing,
        Some(kind) => Advice::ContentTypeOther { content_type: (&kind).into() },
    }
}

/// Advice for a missing `Allow`.
pub(in crate::judge) fn allow_advice(answer: &Answer) -> Option<Advice> {
    (answer.status == 405 && !answer.headers.contains_key(ALLOW)).then_some(Advice::AllowMissing)
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
    #[case::not_found(404, "Cannot PUT /v1/signals", Some("other-methods-unrouted"))]
    #[case::ok(200, r#"{"ok":true}"#, Some("other-methods-accepted"))]
    #[case::not_implemented(501, "", Some("other-methods-not-implemented"))]
    #[case::crash(500, "Internal Server Error", Some("other-methods-fail"))]
    #[case::csrf(403, "CSRF verification failed.", Some("other-methods-filtered"))]
    #[case::body_first(400, "", Some("other-methods-after-body"))]
    #[case::text(405, "Method Not Allowed", Some("body-is-text"))]
    #[case::page(405, "<!DOCTYPE HTML><title>405</title>", Some("body-is-page"))]
    #[case::empty(405, "", Some("body-missing"))]
    #[case::twice(405, r#""{\"error\":\"method_not_allowed\"}""#, Some("json-serialised-twice"))]
    #[case::other_member(405, r#"{"message":"no"}"#, None)]
    fn missing_405_is_explained(#[case] status: u16, #[case] body: &str, #[case] advice: Option<&str>) {
        check(&expected(405, json!({"error": "method_not_allowed"})), &answer(status, &[], body), advice);
    }

    #[rstest]
    #[case::text(502, "Bad Gateway", Some("body-is-text"))]
    #[case::crash(500, "Internal Server Error", Some("unreachable-uncaught"))]
    #[case::gateway_timeout(504, "", Some("unreachable-by-status"))]
    #[case::accepted(200, r#"{"ok":true}"#, Some("unreachable-accepted"))]
    #[case::other(418, "", None)]
    fn wrong_502_is_explained(#[case] status: u16, #[case] body: &str, #[case] advice: Option<&str>) {
        check(&expected(502, json!({"error": "service_unreachable"})), &answer(status, &[], body), advice);
    }

    #[rstest]
    #[case::client_throws(502, r#"{"error":"service_unreachable"}"#, Some("refusal-as-unreachable"))]
    #[case::uncaught(500, "", Some("refusal-uncaught"))]
    #[case::own_answer(500, r#"{"error":"service_rejected","reason":"revoked","status":500}"#, None)]
    #[case::accepted(200, r#"{"ok":true}"#, Some("refusal-accepted"))]
    #[case::other_reason(401, r#"{"error":"service_rejected","reason":"unknown","status":401}"#, None)]
    fn lost_refusal_is_explained(#[case] status: u16, #[case] body: &str, #[case] advice: Option<&str>) {
        let refused = json!({"error": "service_rejected", "reason": "revoked", "status": 401});
        check(&expected(401, refused), &answer(status, &[], body), advice);
    }

    #[rstest]
    #[case::redirect(308, &[("location", "/v1/signals/")], Some("redirects"))]
    #[case::route(404, &[], Some("route-missing"))]
    #[case::limit(413, &[], Some("body-limited"))]
    #[case::type_of_the_body(415, &[], Some("content-type-refused"))]
    #[case::validated(422, &[], Some("body-refused"))]
    #[case::csrf(403, &[], Some("request-filtered"))]
    #[case::length(411, &[], Some("chunked-refused"))]
    #[case::unknown(418, &[], None)]
    fn refused_collection_is_explained(
        #[case] status: u16,
        #[case] headers: &[(&'static str, &'static str)],
        #[case] advice: Option<&str>,
    ) {
        check(&expected(200, json!({"ok": true})), &answer(status, headers, ""), advice);
    }

    #[test]
    fn wrong_content_type_is_explained() {
        let page = [("content-type", "text/html"), ("x-powered-by", "Express")];
        let found = content_type_advice(&answer(404, &page, "<html>"));
        assert_eq!(found, Advice::ErrorNotJson { framework: Some("Express".into()) });
        assert_eq!(content_type_advice(&answer(404, &[], "{}")), Advice::ContentTypeMissing);
        let found = content_type_advice(&answer(404, &[("content-type", "text/html")], r#"{"ok":true}"#));
        assert_eq!(found, Advice::ContentTypeOther { content_type: "text/html".into() });
    }

    #[test]
    fn author_is_named_after_the_fix() {
        let body = json!({"error": "method_not_allowed"});
        let page = answer(404, &[("x-powered-by", "Express")], "<pre>Cannot PUT /</pre>");
        let author = Advice::WrittenByFramework { framework: "Express".into() };
        assert_eq!(answer_advice(&expected(405, body), &page), [Advice::OtherMethodsUnrouted, author]);
    }

    /// Servers that the judge recognises may write an answer as well.
    fn check(expected: &ExpectedAnswer, answer: &Answer, id: Option<&str>) {
        let found = answer_advice(expected, answer);
        assert_eq!(found.iter().map(Advice::id).find(|id| *id != "written-by-framework"), id, "{found:?}");
    }
}
