use edgeproof_fixtures::spec::VerdictPath;
use edgeproof_http::{Body, Draft};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// A request for a verdict.
#[derive(Debug, Clone)]
pub struct VerdictRequest(Draft);

impl VerdictRequest {
    /// A `GET` for this session's verdict, without a token.
    pub fn new(path: &VerdictPath, reference: &str) -> Self {
        Self::unencoded(path, &as_segment(reference))
    }

    /// The same, with the reference in the path as it is.
    pub fn unencoded(path: &VerdictPath, reference: &str) -> Self {
        Self(Draft::new("GET", &path.with(reference)).header("Accept", "application/json"))
    }

    /// Adds `Authorization: Bearer TOKEN`.
    #[must_use]
    pub fn bearer(self, token: &str) -> Self {
        self.authorization(&format!("Bearer {token}"))
    }

    /// Adds `Authorization`.
    #[must_use]
    pub fn authorization(self, value: &str) -> Self {
        Self(self.0.header("Authorization", value))
    }

    /// Adds a header field.
    #[must_use]
    pub fn header(self, name: &str, value: &str) -> Self {
        Self(self.0.header(name, value))
    }

    /// Adds the query, without encoding it.
    #[must_use]
    pub fn query(mut self, query: &str) -> Self {
        self.0.path = format!("{}?{query}", self.0.path);
        self
    }

    /// Replaces the method.
    #[must_use]
    pub fn method(mut self, method: &str) -> Self {
        self.0.method = method.into();
        self
    }

    /// Adds a body.
    #[must_use]
    pub fn body(self, text: &str) -> Self {
        Self(self.0.body(Body::Sized(text.to_owned().into())))
    }

    /// The request to send.
    pub fn draft(&self) -> Draft {
        self.0.clone()
    }
}

/// All characters except unreserved ones (RFC 3986 §2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Encodes a reference as one segment of a path (RFC 3986 §3.3).
pub(in crate::cases) fn as_segment(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}
