use edgeproof_http::Draft;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// A request for a verdict.
#[derive(Debug, Clone)]
pub struct VerdictRequest {
    method: String,
    reference: String,
    authorization: Option<String>,
    query: Option<String>,
}

impl VerdictRequest {
    /// For this session's verdict, without a token.
    pub fn new(reference: &str) -> Self {
        Self { method: "GET".into(), reference: reference.into(), authorization: None, query: None }
    }

    /// With this bearer.
    #[must_use]
    pub fn bearer(self, token: &str) -> Self {
        self.authorization(&format!("Bearer {token}"))
    }

    /// With this `Authorization`.
    #[must_use]
    pub fn authorization(mut self, value: &str) -> Self {
        self.authorization = Some(value.into());
        self
    }

    /// With this query, written as it is.
    #[must_use]
    pub fn query(mut self, query: &str) -> Self {
        self.query = Some(query.into());
        self
    }

    /// With another method.
    #[must_use]
    pub fn method(mut self, method: &str) -> Self {
        self.method = method.into();
        self
    }

    /// As it is sent.
    pub fn draft(&self) -> Draft {
        let mut path = format!("{VERDICT}{}", encode(&self.reference));
        if let Some(query) = &self.query {
            path = format!("{path}?{query}");
        }
        let draft = Draft::new(&self.method, &path).header("Accept", "application/json");
        match &self.authorization {
            Some(value) => draft.header("Authorization", value),
            None => draft,
        }
    }
}

/// Path of the interface before a session reference.
const VERDICT: &str = "/v1/verdict/";
/// Path of the interface for the key set.
const KEYS: &str = "/.well-known/browser-verdict-jwks.json";

/// A request for the key set.
pub fn key_set_request() -> Draft {
    Draft::new("GET", KEYS).header("Accept", "application/json")
}

/// All but unreserved characters (RFC 3986 §2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A reference as one segment of a path (RFC 3986 §3.3).
fn encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}
