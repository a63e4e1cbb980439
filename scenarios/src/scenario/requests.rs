use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderValue, Request, Uri};
use http_body_util::Full;

use super::mixed;
use crate::engine::{Connector, Expect};
use crate::measure::Code;

/// How collections are posted to an edge.
#[derive(Debug, Clone)]
pub struct Posting {
    target: Uri,
    host: HeaderValue,
    origin: HeaderValue,
}

/// How verdicts are asked for at a service.
#[derive(Debug, Clone)]
pub struct Questions {
    base: String,
    host: HeaderValue,
    token: HeaderValue,
    bad: Vec<BadToken>,
}

/// An `Authorization` that is to be refused.
#[derive(Debug, Clone)]
pub struct BadToken {
    /// Its value; none for no header at all.
    pub authorization: Option<String>,
    /// The code of the refusal; none for any that the tables have.
    pub code: Option<Code>,
}

impl Posting {
    /// To the edge that a connector leads to, from a page of this origin.
    pub fn new(connector: &Connector, origin: &str) -> Option<Self> {
        Some(Self {
            target: format!("{}/v1/signals", connector.base()).parse().ok()?,
            host: HeaderValue::from_str(connector.authority()).ok()?,
            origin: HeaderValue::from_str(origin).ok()?,
        })
    }

    /// The request that sends a collection.
    pub fn request(&self, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = self.target.clone();
        let headers = request.headers_mut();
        headers.insert(HOST, self.host.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ORIGIN, self.origin.clone());
        request
    }
}

impl Questions {
    /// At the service that a connector leads to, with this read token; and now and then with one of the bad ones.
    pub fn new(connector: &Connector, authorization: &str, bad: Vec<BadToken>) -> Option<Self> {
        let mut token = HeaderValue::from_str(authorization).ok()?;
        token.set_sensitive(true);
        Some(Self {
            base: connector.base().to_owned(),
            host: HeaderValue::from_str(connector.authority()).ok()?,
            token,
            bad,
        })
    }

    /// Whether there are bad tokens to ask with.
    pub fn has_bad_tokens(&self) -> bool {
        !self.bad.is_empty()
    }

    /// Asks for the verdict of a reference, and waits for it as long as `wait` says.
    pub fn request(&self, reference: &str, wait: Option<u64>) -> Request<Full<Bytes>> {
        self.build(reference, wait, Some(self.token.clone()))
    }

    /// Asks with one of the bad tokens, and what is to come out of that.
    pub fn bad_request(&self, reference: &str, number: u64) -> (Request<Full<Bytes>>, Expect<'static>) {
        let bad = &self.bad[mixed(number, self.bad.len())];
        let token = bad.authorization.as_deref().and_then(|text| HeaderValue::from_str(text).ok());
        (self.build(reference, None, token), Expect::Refused(401, bad.code))
    }

    fn build(&self, reference: &str, wait: Option<u64>, token: Option<HeaderValue>) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(Bytes::new()));
        let target = match wait {
            Some(ms) => format!("{}/v1/verdict/{reference}?waitMs={ms}", self.base),
            None => format!("{}/v1/verdict/{reference}", self.base),
        };
        // A reference that no address can hold is asked for as nothing: the service refuses it, and that is counted.
        *request.uri_mut() =
            Uri::from_maybe_shared(target.into_bytes()).unwrap_or_else(|_| Uri::from_static("/v1/verdict/"));
        request.headers_mut().insert(HOST, self.host.clone());
        if let Some(token) = token {
            request.headers_mut().insert(AUTHORIZATION, token);
        }
        request
    }
}
