use bytes::Bytes;
use edgeproof_fixtures::spec::Stimulus;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::json;

/// Answer that the mock service decided on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceDecision {
    /// Status code.
    pub status: u16,
    /// Header fields besides `Content-Length` and `Date`.
    pub headers: HeaderMap,
    /// Body: compact JSON, or empty for a status without a body.
    pub body: Bytes,
    /// Stimulus of a refusal or of a verdict's state; none for other answers.
    pub stimulus: Option<Stimulus>,
}

impl ServiceDecision {
    /// A JSON answer.
    pub(crate) fn json(status: u16, body: impl Into<Bytes>, stimulus: Option<Stimulus>) -> Self {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        Self { status, headers, body: body.into(), stimulus }
    }

    /// A refusal without a row: its code is HTTP's reason phrase.
    pub(crate) fn of_http(status: StatusCode) -> Self {
        let code = status.canonical_reason().unwrap_or_default().to_lowercase().replace([' ', '-'], "_");
        Self::json(status.as_u16(), json!({ "error": code }).to_string(), None)
    }

    /// Refusal of a method on a path that only `GET` and `HEAD` may use.
    pub(crate) fn method_not_allowed() -> Self {
        Self::of_http(StatusCode::METHOD_NOT_ALLOWED).with(ALLOW, "GET, HEAD")
    }

    /// Adds the headers of an answer about a verdict: `no-store`, and `WWW-Authenticate` on a 401 (RFC 9110, 11.6.1).
    pub(crate) fn about_verdict(self) -> Self {
        let unauthorized = self.status == StatusCode::UNAUTHORIZED.as_u16();
        let decision = self.with(CACHE_CONTROL, "no-store");
        if unauthorized { decision.with(WWW_AUTHENTICATE, "Bearer") } else { decision }
    }

    fn with(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }
}

/// The body, or nothing for a status without one (RFC 9110, 6.4.1). Over HTTP/2 hyper would send it anyway.
pub(crate) fn allowed_body(status: u16, body: Bytes) -> Bytes {
    if matches!(status, 204 | 304) { Bytes::new() } else { body }
}
