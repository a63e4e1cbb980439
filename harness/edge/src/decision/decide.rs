use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, ORIGIN};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::json;

use super::cors;
use super::reason::plain_reason;
use super::rules::{EdgeRules, FixedAnswer, json};

/// Body for unknown paths, which the interface leaves open.
const NOT_FOUND: &[u8] = br#"{"error":"not_found"}"#;

/// Facts of a request that the decision depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFacts {
    /// Method.
    pub method: Method,
    /// Path without query.
    pub path: String,
    /// `Origin` header; unset if the request has none or several.
    pub origin: Option<HeaderValue>,
    /// Whether the request is a valid WebSocket handshake.
    pub websocket: bool,
}

/// Result of relaying a collection to the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelayResult {
    /// The page's body broke off. The service got no complete request.
    BodyBroken,
    /// The service sent no usable answer.
    NoAnswer,
    /// The service answered.
    Answered {
        /// Status.
        status: StatusCode,
        /// Header fields.
        headers: HeaderMap,
        /// Body; unset on success, and if the body broke off, timed out or was too long.
        body: Option<Bytes>,
    },
}

/// Next step of the edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EdgeDecision {
    /// Read the body, relay it, and send the answer of [`conclude`].
    Relay,
    /// Open the WebSocket.
    Measure,
    /// Send this answer.
    Answer(EdgeAnswer),
}

/// Answer of the edge to the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeAnswer {
    /// Status.
    pub status: StatusCode,
    /// Headers, without those that HTTP framing adds.
    pub headers: HeaderMap,
    /// Body; not sent where method or status forbid one.
    pub body: Bytes,
    /// Lines to log.
    pub log: Option<String>,
}

impl RequestFacts {
    /// Reads the facts from the head of a request.
    pub fn new<B>(request: &http::Request<B>, websocket: bool) -> Self {
        let mut origins = request.headers().get_all(ORIGIN).iter();
        let origin = origins.next().filter(|_| origins.next().is_none()).cloned();
        Self { method: request.method().clone(), path: request.uri().path().to_owned(), origin, websocket }
    }
}

/// Decides on a request before its body is read.
pub fn decide(rules: &EdgeRules, facts: &RequestFacts) -> EdgeDecision {
    if facts.path == rules.measure_path && facts.websocket {
        return EdgeDecision::Measure;
    }
    if facts.path == rules.health.path {
        return EdgeDecision::Answer(match facts.method {
            ref method if rules.health.methods.contains(method) => fixed(rules, facts, &rules.healthy),
            _ => method_not_allowed(rules, facts, &rules.health.allow),
        });
    }
    if facts.path != rules.signals.path {
        let body = Bytes::from_static(NOT_FOUND);
        return EdgeDecision::Answer(answer(rules, facts, StatusCode::NOT_FOUND, body));
    }
    match facts.method {
        Method::OPTIONS => EdgeDecision::Answer(preflight(rules, facts)),
        ref method if rules.signals.methods.contains(method) => EdgeDecision::Relay,
        _ => EdgeDecision::Answer(method_not_allowed(rules, facts, &rules.signals.allow)),
    }
}

/// Answer to the page after a relay attempt.
pub fn conclude(rules: &EdgeRules, facts: &RequestFacts, result: &RelayResult) -> EdgeAnswer {
    match result {
        RelayResult::BodyBroken => fixed(rules, facts, &rules.read_failed),
        RelayResult::NoAnswer => fixed(rules, facts, &rules.service_unreachable),
        // A 101 ends HTTP on its connection, so it does not answer a POST.
        RelayResult::Answered { status, .. } if status.is_informational() => {
            fixed(rules, facts, &rules.service_unreachable)
        }
        // The interface defines acceptance by status alone: the body does not matter.
        RelayResult::Answered { status, .. } if status.is_success() => fixed(rules, facts, &rules.accepted),
        // A redirect is a refusal too: the service was reached and did not accept.
        RelayResult::Answered { status, body, .. } => refusal(rules, facts, *status, body.as_deref()),
    }
}

fn refusal(rules: &EdgeRules, facts: &RequestFacts, status: StatusCode, reply: Option<&[u8]>) -> EdgeAnswer {
    let reason = reply.and_then(plain_reason);
    let rule = if reason.is_some() { &rules.refused } else { &rules.refused_unknown };
    let values = [("<reason>", json!(reason)), ("<status>", json!(status.as_u16()))];
    let body = rule.row.body_with(&values).unwrap_or_default();
    // The log names the same reason as the answer.
    let named = || body.get("reason").and_then(|reason| reason.as_str());
    let reason = reason.as_deref().or_else(named).unwrap_or_default();
    let log = format!("refused status={} reason={reason}", status.as_u16());
    EdgeAnswer { log: Some(log), ..answer(rules, facts, rule.status.unwrap_or(status), json(&body)) }
}

fn preflight(rules: &EdgeRules, facts: &RequestFacts) -> EdgeAnswer {
    let mut headers = HeaderMap::new();
    headers.insert(ALLOW, rules.signals.allow.clone());
    cors::grant_preflight(rules, facts.origin.as_ref(), &mut headers);
    EdgeAnswer { status: rules.preflight.status, headers, body: Bytes::new(), log: None }
}

fn method_not_allowed(rules: &EdgeRules, facts: &RequestFacts, allow: &HeaderValue) -> EdgeAnswer {
    let mut answer = fixed(rules, facts, &rules.method_not_allowed);
    answer.headers.insert(ALLOW, allow.clone());
    answer
}

fn fixed(rules: &EdgeRules, facts: &RequestFacts, fixed: &FixedAnswer) -> EdgeAnswer {
    answer(rules, facts, fixed.status, fixed.body.clone())
}

fn answer(rules: &EdgeRules, facts: &RequestFacts, status: StatusCode, body: Bytes) -> EdgeAnswer {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    cors::grant(rules, facts.origin.as_ref(), &mut headers);
    EdgeAnswer { status, headers, body, log: None }
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::{Spec, Version};
    use rstest::rstest;

    use super::*;

    fn rules() -> EdgeRules {
        let spec = Spec::builtin(Version::Current);
        EdgeRules::new(&spec, spec.profile(), Some("https://shop.example")).unwrap()
    }

    fn facts(method: &str, path: &str, websocket: bool) -> RequestFacts {
        RequestFacts { method: method.parse().unwrap(), path: path.to_owned(), origin: None, websocket }
    }

    #[rstest]
    #[case::relay("POST", "/v1/signals", false, None)]
    #[case::preflight("OPTIONS", "/v1/signals", false, Some(204))]
    #[case::other_method("PUT", "/v1/signals", false, Some(405))]
    #[case::lower_case_method_is_unknown("post", "/v1/signals", false, Some(405))]
    #[case::websocket_on_other_path("GET", "/v1/signals", true, Some(405))]
    #[case::measure("GET", "/v1/measure", true, None)]
    #[case::measure_without_websocket("GET", "/v1/measure", false, Some(404))]
    #[case::health("GET", "/health", false, Some(200))]
    #[case::asterisk("OPTIONS", "*", false, Some(404))]
    fn decides_by_method_path_and_handshake(
        #[case] method: &str,
        #[case] path: &str,
        #[case] websocket: bool,
        #[case] status: Option<u16>,
    ) {
        let status_before_body = match decide(&rules(), &facts(method, path, websocket)) {
            EdgeDecision::Answer(answer) => Some(answer.status.as_u16()),
            EdgeDecision::Relay => {
                assert_eq!(path, "/v1/signals");
                None
            }
            EdgeDecision::Measure => {
                assert_eq!(path, "/v1/measure");
                None
            }
        };
        assert_eq!(status_before_body, status);
    }

    #[rstest]
    #[case::body_broken(RelayResult::BodyBroken, 400, None)]
    #[case::no_answer(RelayResult::NoAnswer, 502, None)]
    #[case::switching_protocols(answered(101, ""), 502, None)]
    #[case::accepted(answered(200, ""), 200, None)]
    #[case::accepted_with_other_2xx(answered(299, r#"{"reason":"expired"}"#), 200, None)]
    #[case::redirect(answered(302, ""), 302, Some("refused status=302 reason=unknown"))]
    #[case::refused(answered(401, r#"{"reason":"expired"}"#), 401, Some("refused status=401 reason=expired"))]
    #[case::invalid_reason_is_not_logged(
        answered(401, r#"{"reason":"x\nforged"}"#),
        401,
        Some("refused status=401 reason=unknown")
    )]
    #[case::unassigned_status(answered(999, ""), 999, Some("refused status=999 reason=unknown"))]
    fn answers_and_logs_the_relay_result(
        #[case] result: RelayResult,
        #[case] status: u16,
        #[case] log: Option<&str>,
    ) {
        let answer = conclude(&rules(), &facts("POST", "/v1/signals", false), &result);
        assert_eq!((answer.status.as_u16(), answer.log.as_deref()), (status, log));
    }

    fn answered(status: u16, body: &'static str) -> RelayResult {
        let status = StatusCode::from_u16(status).unwrap();
        RelayResult::Answered {
            status,
            headers: HeaderMap::new(),
            body: Some(Bytes::from_static(body.as_bytes())),
        }
    }
}
