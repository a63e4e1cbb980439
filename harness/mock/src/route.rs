use edgeproof_fixtures::spec::{Fact, Spec, Table};
use http::Method;
use percent_encoding::percent_decode_str;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceEndpoint {
    /// A relayed collection: any path, any method but `GET` and `HEAD`.
    Relay,
    /// The verdict of a session.
    Verdict,
    /// The key set.
    KeySet,
    /// Nothing that the service has.
    Nothing,
}

/// A request's endpoint, with what its path says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    Relay,
    Verdict(SessionRef),
    KeySet,
    Health,
    NotFound,
    MethodNotAllowed,
}

/// A session reference as a path names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionRef {
    /// As it is told back.
    pub(crate) text: String,
    /// A page can have passed it to `start()`: it is text.
    pub(crate) possible: bool,
}

/// The mock's own, for whoever starts it: the interface has none on the service.
const HEALTH: &str = "/health";

/// Where the endpoints are, from the tables.
#[derive(Debug, Default)]
pub(crate) struct Router {
    /// Before the reference, and after it.
    verdict: Option<(String, String)>,
    key_set: Option<String>,
}

impl Router {
    pub(crate) fn of(spec: &Spec) -> Self {
        let mut router = Self::default();
        for row in spec.table(Table::Endpoints) {
            match &row.fact {
                Fact::Endpoint { party, path, .. } if party == "service" => {
                    let around = path.split_once("{sessionRef}");
                    router.verdict = around.map(|(before, after)| (before.to_owned(), after.to_owned()));
                }
                Fact::Endpoint { party, path, .. } if party == "keys" => router.key_set = Some(path.clone()),
                _ => {}
            }
        }
        router
    }

    /// `POST` relays wherever it goes, for the path of an edge's call is not shown. What else asks for one of the two
    /// router of the interface gets that endpoint, or hears that it takes no such method.
    pub(crate) fn route(&self, method: &Method, path: &str) -> Route {
        if method == Method::POST {
            return Route::Relay;
        }
        let reads = matches!(*method, Method::GET | Method::HEAD);
        if self.key_set.as_deref() == Some(path) {
            return if reads { Route::KeySet } else { Route::MethodNotAllowed };
        }
        let reference = self
            .verdict
            .as_ref()
            .and_then(|(before, after)| path.strip_prefix(before.as_str())?.strip_suffix(after.as_str()));
        match reference {
            Some(reference) if reads => Route::Verdict(SessionRef::decode(reference)),
            Some(_) => Route::MethodNotAllowed,
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
    /// Decodes percent signs, once. A percent sign that begins no code stands for itself. Bytes that are not UTF-8 are no
    /// reference of any session, and are told back as they were written.
    fn decode(written: &str) -> Self {
        if let Ok(text) = percent_decode_str(written).decode_utf8() {
            Self { text: text.into_owned(), possible: true }
        } else {
            // What a path holds unencoded may be no text either.
            let text = String::from_utf8_lossy(written.as_bytes()).into_owned();
            Self { text, possible: false }
        }
    }
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::Version;
    use rstest::rstest;

    use super::*;

    fn route(method: &str, path: &str) -> Route {
        Router::of(&Spec::builtin(Version::Current)).route(&method.parse().unwrap(), path)
    }

    #[rstest]
    #[case::plain("abc", "abc")]
    #[case::space("a%20b", "a b")]
    #[case::plus_is_itself("a+b", "a+b")]
    #[case::slash("a%2Fb", "a/b")]
    #[case::slash_unencoded("a/b", "a/b")]
    #[case::decoded_once("%2525", "%25")]
    #[case::percent_unencoded("100%", "100%")]
    #[case::no_code("%zz%4", "%zz%4")]
    #[case::unicode("%F0%9F%A6%8A", "🦊")]
    #[case::nothing("", "")]
    #[case::dots("..", "..")]
    #[case::zero("a%00b", "a\0b")]
    fn a_reference_is_decoded_once(#[case] written: &str, #[case] text: &str) {
        let reference = SessionRef { text: text.to_owned(), possible: true };
        assert_eq!(route("GET", &format!("/v1/verdict/{written}")), Route::Verdict(reference));
    }

    #[test]
    fn what_is_not_text_is_no_reference_and_comes_back_as_written() {
        let reference = SessionRef { text: "a%FFb".to_owned(), possible: false };
        assert_eq!(route("GET", "/v1/verdict/a%FFb"), Route::Verdict(reference));
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
    fn other_requests_have_a_place_too(#[case] method: &str, #[case] path: &str, #[case] expected: Route) {
        assert_eq!(route(method, path), expected);
    }
}
