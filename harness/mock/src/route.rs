use edgeproof_fixtures::spec::{Endpoint, Spec, VerdictPath};
use http::Method;
use percent_encoding::percent_decode_str;

/// Endpoint of the service that a request addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceEndpoint {
    /// A relayed collection: any path, any method except `GET` and `HEAD`.
    Relay,
    /// The verdict of a session.
    Verdict,
    /// The key set.
    KeySet,
    /// No endpoint of the interface.
    Nothing,
}

/// Route of a request: its endpoint, with the parameters of the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    Relay,
    Verdict(SessionRef),
    KeySet,
    Health,
    NotFound,
    MethodNotAllowed,
}

/// Session reference in a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionRef {
    /// Reference as the answer repeats it.
    pub(crate) text: String,
    /// False where the path holds bytes that are not UTF-8: no page can start such a session.
    pub(crate) is_text: bool,
}

/// Health path of the mock itself, for its users. The interface defines none for the service.
const HEALTH: &str = "/health";

/// Paths of the endpoints, from the tables.
#[derive(Debug)]
pub(crate) struct Router {
    verdict: VerdictPath,
    verdict_methods: Vec<String>,
    key_set: String,
    key_set_methods: Vec<String>,
}

impl Router {
    pub(crate) fn new(spec: &Spec) -> Self {
        Self {
            verdict: spec.verdict_path().clone(),
            verdict_methods: spec.methods(Endpoint::Verdict).to_vec(),
            key_set: spec.path(Endpoint::KeySet).to_owned(),
            key_set_methods: spec.methods(Endpoint::KeySet).to_vec(),
        }
    }

    /// Routes a request. A `POST` to any path is a relayed collection, unless the path's endpoint takes it: the interface
    /// does not show the path of an edge's call. Other methods on the two paths of the interface are not allowed.
    pub(crate) fn route(&self, method: &Method, path: &str) -> Route {
        let reads = matches!(*method, Method::GET | Method::HEAD);
        let takes = |methods: &[String]| reads || methods.iter().any(|listed| listed == method.as_str());
        let not_taken = || if method == Method::POST { Route::Relay } else { Route::MethodNotAllowed };
        if path == self.key_set {
            return if takes(&self.key_set_methods) { Route::KeySet } else { not_taken() };
        }
        match self.verdict.reference(path) {
            Some(reference) if takes(&self.verdict_methods) => Route::Verdict(SessionRef::decode(reference)),
            Some(_) => not_taken(),
            None if reads && path == HEALTH => Route::Health,
            None if reads => Route::NotFound,
            None => Route::Relay,
        }
    }
}

impl Route {
    pub(crate) fn endpoint(&self) -> ServiceEndpoint {
        match self {
            Self::Relay => ServiceEndpoint::Relay,
            Self::Verdict(_) => ServiceEndpoint::Verdict,
            Self::KeySet => ServiceEndpoint::KeySet,
            Self::Health | Self::NotFound | Self::MethodNotAllowed => ServiceEndpoint::Nothing,
        }
    }
}

impl SessionRef {
    /// Percent-decodes a reference once. An invalid escape stays as it is. A reference that is not UTF-8 stays encoded
    /// and matches no session.
    fn decode(written: &str) -> Self {
        if let Ok(text) = percent_decode_str(written).decode_utf8() {
            Self { text: text.into_owned(), is_text: true }
        } else {
            Self { text: written.to_owned(), is_text: false }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn route(method: &str, path: &str) -> Route {
        Router::new(Spec::current()).route(&method.parse().unwrap(), path)
    }

    #[rstest]
    #[case::plain("abc", "abc")]
    #[case::space("a%20b", "a b")]
    #[case::plus("a+b", "a+b")]
    #[case::slash("a%2Fb", "a/b")]
    #[case::slash_unencoded("a/b", "a/b")]
    #[case::double_encoded("%2525", "%25")]
    #[case::percent_unencoded("100%", "100%")]
    #[case::invalid_escape("%zz%4", "%zz%4")]
    #[case::unicode("%F0%9F%A6%8A", "🦊")]
    #[case::empty("", "")]
    #[case::dots("..", "..")]
    #[case::nul("a%00b", "a\0b")]
    fn session_reference_is_decoded_once(#[case] written: &str, #[case] text: &str) {
        let reference = SessionRef { text: text.to_owned(), is_text: true };
        assert_eq!(route("GET", &Spec::current().verdict_path().with(written)), Route::Verdict(reference));
    }

    #[test]
    fn session_reference_that_is_not_utf8_stays_encoded() {
        let reference = SessionRef { text: "a%FFb".to_owned(), is_text: false };
        assert_eq!(route("GET", &Spec::current().verdict_path().with("a%FFb")), Route::Verdict(reference));
    }

    #[rstest]
    #[case("POST", "/v1/relay", Route::Relay)]
    #[case("PUT", "/any/path", Route::Relay)]
    #[case("POST", "/v1/verdict/x", Route::Relay)]
    #[case("DELETE", "/v1/verdict/x", Route::MethodNotAllowed)]
    #[case("PUT", "/.well-known/browser-verdict-jwks.json", Route::MethodNotAllowed)]
    #[case("HEAD", "/.well-known/browser-verdict-jwks.json", Route::KeySet)]
    #[case("GET", "/v1/verdict", Route::NotFound)]
    #[case("GET", "/", Route::NotFound)]
    #[case("GET", "/health", Route::Health)]
    #[case("POST", "/health", Route::Relay)]
    fn method_and_path_select_the_route(#[case] method: &str, #[case] path: &str, #[case] expected: Route) {
        assert_eq!(route(method, path), expected);
    }
}
