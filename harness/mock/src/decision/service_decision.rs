use bytes::Bytes;
use edgeproof_fixtures::spec::Stimulus;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::json;

/// What the mock service answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceDecision {
    /// Status code.
    pub status: u16,
    /// Header fields besides `Content-Length` and `Date`.
    pub headers: HeaderMap,
    /// Body; compact JSON, or empty where the status allows none.
    pub body: Bytes,
    /// The cause of a refusal, or of a verdict's being there or absent; none otherwise.
    pub stimulus: Option<Stimulus>,
}

impl ServiceDecision {
    /// An answer in JSON.
    pub(crate) fn json(status: u16, body: impl Into<Bytes>, stimulus: Option<Stimulus>) -> Self {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        Self { status, headers, body: body.into(), stimulus }
    }

    /// A refusal that no row is for: HTTP's own, in its words.
    pub(crate) fn of_http(status: StatusCode) -> Self {
        let words = status.canonical_reason().unwrap_or_default().to_lowercase().replace([' ', '-'], "_");
        Self::json(status.as_u16(), json!({ "error": words }).to_string(), None)
    }

    /// The refusal of a method on a path that can be read.
    pub(crate) fn method_not_allowed() -> Self {
        Self::of_http(StatusCode::METHOD_NOT_ALLOWED).with(ALLOW, "GET, HEAD")
    }

    /// An answer about a verdict: nobody may keep it, and a refusal says what it asks for (RFC 9110, 11.6.1).
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

/// The body as far as the status allows one (RFC 9110, 6.4.1): over HTTP/2 hyper would send it all the same.
pub(crate) fn allowed_body(status: u16, body: Bytes) -> Bytes {
    if matches!(status, 204 | 304) { Bytes::new() } else { body }
}
