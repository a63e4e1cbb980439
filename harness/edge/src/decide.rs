use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, ORIGIN};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::json;

use super::cors;
use super::reason::plain_reason;
use super::rules::{Fixed, Rules, json};

/// Body for paths that the interface does not know; it shows none.
const NO_SUCH_PATH: &[u8] = br#"{"error":"not_found"}"#;

/// What the edge knows of a request when it has to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFacts {
    /// Method.
    pub method: Method,
    /// Path without its query.
    pub path: String,
    /// The `Origin` header, if there is exactly one.
    pub origin: Option<HeaderValue>,
    /// It asks for a WebSocket, in a form that can be granted.
    pub websocket: bool,
}

/// What came of relaying.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relayed {
    /// The body broke off before its end; nothing whole went to the service.
    BodyBroken,
    /// The service gave no answer that can be used.
    NoAnswer,
    /// The service answered.
    Answered {
        /// Its status.
        status: StatusCode,
        /// Its body; none if it broke off, came too late, or is too long to be a refusal's.
        body: Option<Bytes>,
    },
}

/// What the edge does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EdgeDecision {
    /// Reads the body, relays it, and answers as [`conclude`] says.
    Relay,
    /// Opens the WebSocket.
    Measure,
    /// Answers.
    Answer(EdgeAnswer),
}

/// An answer of the edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeAnswer {
    /// Status.
    pub status: StatusCode,
    /// Header fields, without those that belong to the connection.
    pub headers: HeaderMap,
    /// Body; it is left out where the method or the status has none.
    pub body: Bytes,
    /// The line to log.
    pub log: Option<String>,
}

impl RequestFacts {
    /// Reads them from a request's head.
    pub fn of<B>(request: &http::Request<B>, websocket: bool) -> Self {
        let mut origins = request.headers().get_all(ORIGIN).iter();
        let origin = origins.next().filter(|_| origins.next().is_none()).cloned();
        Self { method: request.method().clone(), path: request.uri().path().to_owned(), origin, websocket }
    }
}

/// What the edge does with a request, before it reads the body.
pub fn decide(rules: &Rules, facts: &RequestFacts) -> EdgeDecision {
    if facts.path == rules.measure && facts.websocket {
        return EdgeDecision::Measure;
    }
    if facts.path == rules.health.path {
        return EdgeDecision::Answer(match facts.method {
            Method::GET | Method::HEAD => fixed(rules, facts, &rules.healthy),
            _ => method_not_allowed(rules, facts, &rules.health.allow),
        });
    }
    if facts.path != rules.signals.path {
        let body = Bytes::from_static(NO_SUCH_PATH);
        return EdgeDecision::Answer(answer(rules, facts, StatusCode::NOT_FOUND, body));
    }
    match facts.method {
        Method::POST => EdgeDecision::Relay,
        Method::OPTIONS => EdgeDecision::Answer(preflight(rules, facts)),
        _ => EdgeDecision::Answer(method_not_allowed(rules, facts, &rules.signals.allow)),
    }
}

/// What the edge answers when it has relayed, or tried to.
pub fn conclude(rules: &Rules, facts: &RequestFacts, relayed: &Relayed) -> EdgeAnswer {
    match relayed {
        Relayed::BodyBroken => fixed(rules, facts, &rules.read_failed),
        Relayed::NoAnswer => fixed(rules, facts, &rules.service_unreachable),
        // A 101 ends HTTP on that connection: not an answer to a POST.
        Relayed::Answered { status, .. } if status.is_informational() => {
            fixed(rules, facts, &rules.service_unreachable)
        }
        // Whatever the body: of an acceptance the interface shows the status only.
        Relayed::Answered { status, .. } if status.is_success() => fixed(rules, facts, &rules.accepted),
        // Everything else is a refusal, also a redirect: the service was reached and did not accept.
        Relayed::Answered { status, body } => refusal(rules, facts, *status, body.as_deref()),
    }
}

fn refusal(rules: &Rules, facts: &RequestFacts, status: StatusCode, reply: Option<&[u8]>) -> EdgeAnswer {
    let reason = reply.and_then(|reply| plain_reason(reply, rules.reason));
    let row = if reason.is_some() { &rules.refused } else { &rules.refused_unknown };
    let values = [("<reason>", json!(reason)), ("<status>", json!(status.as_u16()))];
    let body = row.body_with(&values).unwrap_or_default();
    // What the page is told is what the log says.
    let said = body.get("reason").and_then(|reason| reason.as_str()).unwrap_or_default();
    let log = format!("refused status={} reason={said}", status.as_u16());
    EdgeAnswer { log: Some(log), ..answer(rules, facts, status, json(&body)) }
}

fn preflight(rules: &Rules, facts: &RequestFacts) -> EdgeAnswer {
    let mut headers = HeaderMap::new();
    headers.insert(ALLOW, rules.signals.allow.clone());
    cors::grant_preflight(rules, facts.origin.as_ref(), &mut headers);
    EdgeAnswer { status: rules.preflight.status, headers, body: Bytes::new(), log: None }
}

fn method_not_allowed(rules: &Rules, facts: &RequestFacts, allow: &HeaderValue) -> EdgeAnswer {
    let mut answer = fixed(rules, facts, &rules.method_not_allowed);
    answer.headers.insert(ALLOW, allow.clone());
    answer
}

fn fixed(rules: &Rules, facts: &RequestFacts, fixed: &Fixed) -> EdgeAnswer {
    answer(rules, facts, fixed.status, fixed.body.clone())
}

fn answer(rules: &Rules, facts: &RequestFacts, status: StatusCode, body: Bytes) -> EdgeAnswer {
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

    fn rules() -> Rules {
        let spec = Spec::builtin(Version::Current);
        Rules::new(&spec, spec.profile(), Some("https://shop.example")).unwrap()
    }

    fn facts(method: &str, path: &str, websocket: bool) -> RequestFacts {
        RequestFacts { method: method.parse().unwrap(), path: path.to_owned(), origin: None, websocket }
    }

    #[rstest]
    #[case::relay("POST", "/v1/signals", false, None)]
    #[case::preflight("OPTIONS", "/v1/signals", false, Some(204))]
    #[case::other_method("PUT", "/v1/signals", false, Some(405))]
    #[case::lower_case_is_another_method("post", "/v1/signals", false, Some(405))]
    #[case::websocket_elsewhere("GET", "/v1/signals", true, Some(405))]
    #[case::measure("GET", "/v1/measure", true, None)]
    #[case::no_websocket("GET", "/v1/measure", false, Some(404))]
    #[case::health("GET", "/health", false, Some(200))]
    #[case::asterisk("OPTIONS", "*", false, Some(404))]
    fn before_the_body(
        #[case] method: &str,
        #[case] path: &str,
        #[case] websocket: bool,
        #[case] status: Option<u16>,
    ) {
        let answered = match decide(&rules(), &facts(method, path, websocket)) {
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
        assert_eq!(answered, status);
    }

    #[rstest]
    #[case::broken(Relayed::BodyBroken, 400, None)]
    #[case::nothing(Relayed::NoAnswer, 502, None)]
    #[case::switching_protocols(answered(101, ""), 502, None)]
    #[case::accepted(answered(200, ""), 200, None)]
    #[case::accepted_with_another_2xx(answered(299, r#"{"reason":"expired"}"#), 200, None)]
    #[case::redirect(answered(302, ""), 302, Some("refused status=302 reason=unknown"))]
    #[case::refused(answered(401, r#"{"reason":"expired"}"#), 401, Some("refused status=401 reason=expired"))]
    #[case::no_text_of_others_in_the_log(
        answered(401, r#"{"reason":"x\nforged"}"#),
        401,
        Some("refused status=401 reason=unknown")
    )]
    #[case::beyond_what_http_knows(answered(999, ""), 999, Some("refused status=999 reason=unknown"))]
    fn after_relaying(#[case] relayed: Relayed, #[case] status: u16, #[case] log: Option<&str>) {
        let answer = conclude(&rules(), &facts("POST", "/v1/signals", false), &relayed);
        assert_eq!((answer.status.as_u16(), answer.log.as_deref()), (status, log));
    }

    fn answered(status: u16, body: &'static str) -> Relayed {
        let status = StatusCode::from_u16(status).unwrap();
        Relayed::Answered { status, body: Some(Bytes::from_static(body.as_bytes())) }
    }
}
