use edgeproof_fixtures::spec::VerdictPath;
use edgeproof_http::Draft;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// A request for a verdict.
#[derive(Debug, Clone)]
pub struct VerdictRequest {
    path: VerdictPath,
    method: String,
    reference: String,
    authorization: Option<String>,
    query: Option<String>,
    encoded: bool,
}

impl VerdictRequest {
    /// A `GET` for this session's verdict, without a token.
    pub fn new(path: &VerdictPath, reference: &str) -> Self {
        Self {
            path: path.clone(),
            method: "GET".into(),
            reference: reference.into(),
            authorization: None,
            query: None,
            encoded: true,
        }
    }

    /// Sets `Authorization: Bearer TOKEN`.
    #[must_use]
    pub fn bearer(self, token: &str) -> Self {
        self.authorization(&format!("Bearer {token}"))
    }

    /// Sets `Authorization`.
    #[must_use]
    pub fn authorization(mut self, value: &str) -> Self {
        self.authorization = Some(value.into());
        self
    }

    /// Sets the query, without encoding it.
    #[must_use]
    pub fn query(mut self, query: &str) -> Self {
        self.query = Some(query.into());
        self
    }

    /// Puts the reference into the path as it is, without percent-encoding.
    #[must_use]
    pub fn unencoded(self) -> Self {
        Self { encoded: false, ..self }
    }

    /// Replaces the method.
    #[must_use]
    pub fn method(mut self, method: &str) -> Self {
        self.method = method.into();
        self
    }

    /// The request to send.
    pub fn draft(&self) -> Draft {
        let reference = if self.encoded { encode(&self.reference) } else { self.reference.clone() };
        let mut path = self.path.with(&reference);
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

/// All characters except unreserved ones (RFC 3986 §2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Encodes a reference as one segment of a path (RFC 3986 §3.3).
fn encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}
