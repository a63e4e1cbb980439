use bytes::Bytes;
use edgeproof_fixtures::collector;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;
use serde_json::Value;

/// An answer to the page.
pub(super) struct Content {
    status: StatusCode,
    media_type: &'static str,
    body: Bytes,
}

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

impl Content {
    /// A file of the page.
    pub(super) fn file(path: &str) -> Option<Self> {
        let (media_type, text) = match path {
            "/" => (HTML, include_str!("index.html")),
            "/page.css" => (STYLE, include_str!("page.css")),
            "/page.js" => (SCRIPT, include_str!("page.js")),
            "/collector.js" => (SCRIPT, collector::MODULE),
            _ => return None,
        };
        Some(Self { status: StatusCode::OK, media_type, body: Bytes::from_static(text.as_bytes()) })
    }

    /// Data for the page.
    pub(super) fn json(value: &Value) -> Self {
        Self { status: StatusCode::OK, media_type: "application/json", body: value.to_string().into() }
    }

    /// A refusal.
    pub(super) fn text(status: StatusCode, why: &'static str) -> Self {
        Self { status, media_type: "text/plain; charset=utf-8", body: Bytes::from_static(why.as_bytes()) }
    }

    /// The response, with a policy that lets the page connect to itself and its edge only.
    pub(super) fn response(self, edge: &str) -> Response<Full<Bytes>> {
        let websocket = edge.replacen("http", "ws", 1);
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; \
             connect-src 'self' {edge} {websocket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        let policy = HeaderValue::from_str(&policy).expect("a URL is a valid header value");
        let mut response = Response::new(Full::new(self.body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.media_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(CONTENT_SECURITY_POLICY, policy);
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        response
    }
}
