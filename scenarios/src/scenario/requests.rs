use edgeproof_fixtures::spec::{Endpoint, Spec, VerdictPath};
use edgeproof_http::ServerAddress;

use super::choice::choose;
use crate::engine::{Expectation, HeaderFields, OutgoingRequest};
use crate::measure::Code;

/// Encodes collection requests to an edge.
#[derive(Debug, Clone)]
pub struct CollectionRequests {
    route: String,
    target: String,
    fields: HeaderFields,
}

/// Encodes verdict requests to a service.
#[derive(Debug, Clone)]
pub struct VerdictRequests {
    base: String,
    path: VerdictPath,
    /// Includes the read token.
    fields: HeaderFields,
    bad: Vec<(HeaderFields, Option<Code>)>,
}

/// An invalid `Authorization` header, which the service must refuse.
#[derive(Debug, Clone)]
pub struct BadToken {
    /// The header's value; `None` for no header.
    pub authorization: Option<String>,
    /// Expected code; `None` accepts any code of the tables.
    pub code: Option<Code>,
}

impl CollectionRequests {
    /// Requests to this edge, from a page of this origin. `None` if the origin is not a valid header value.
    pub fn new(spec: &Spec, endpoint: &ServerAddress, origin: &str) -> Option<Self> {
        let fields =
            [("Host", endpoint.authority()), ("Content-Type", "application/json"), ("Origin", origin)];
        let path = spec.path(Endpoint::Signals);
        let (route, target) = (format!("POST {path}"), format!("{}{path}", endpoint.base()));
        Some(Self { route, target, fields: HeaderFields::new(fields)? })
    }

    /// Route of a collection, as reports and thresholds name it: `POST /v1/signals`.
    pub fn route(&self) -> &str {
        &self.route
    }

    /// The request for a collection.
    pub fn request(&self, body: &[u8]) -> OutgoingRequest {
        self.fields.post(&self.target, body)
    }
}

impl VerdictRequests {
    /// Requests to this service, with this read token or one of the invalid ones. `None` if a value is not a
    /// valid header value.
    pub fn new(
        spec: &Spec,
        endpoint: &ServerAddress,
        authorization: &str,
        bad: Vec<BadToken>,
    ) -> Option<Self> {
        let host = ("Host", endpoint.authority());
        let with = |authorization: Option<&str>| {
            HeaderFields::new([host].into_iter().chain(authorization.map(|value| ("Authorization", value))))
        };
        let bad = bad
            .into_iter()
            .map(|BadToken { authorization, code }| Some((with(authorization.as_deref())?, code)));
        Some(Self {
            base: endpoint.base().to_owned(),
            path: spec.verdict_path().clone(),
            fields: with(Some(authorization))?,
            bad: bad.collect::<Option<_>>()?,
        })
    }

    /// Route of a verdict, as reports and thresholds name it: `GET /v1/verdict/{ref}`.
    pub fn route(&self) -> String {
        format!("GET {}", self.path.with("{ref}"))
    }

    /// Whether there are invalid tokens.
    pub fn has_bad_tokens(&self) -> bool {
        !self.bad.is_empty()
    }

    /// The request for a verdict, with `waitMs` if `wait` is given.
    pub fn request(&self, reference: &str, wait: Option<u64>) -> OutgoingRequest {
        self.fields.get(&self.target(reference, wait))
    }

    /// A request with one of the invalid tokens, and its expected result.
    pub fn bad_request(&self, reference: &str, number: u64) -> (OutgoingRequest, Expectation<'static>) {
        let (fields, code) = &self.bad[choose(number, self.bad.len())];
        (fields.get(&self.target(reference, None)), Expectation::Refused(401, *code))
    }

    fn target(&self, reference: &str, wait: Option<u64>) -> String {
        // A reference with invalid bytes becomes empty: the service refuses the request, and the report
        // counts it.
        let fits = reference.bytes().all(|byte| byte > b' ' && byte != 0x7f);
        let reference = if fits { reference } else { "" };
        let (base, prefix, suffix) = (&self.base, self.path.prefix(), self.path.suffix());
        match wait {
            Some(ms) => format!("{base}{prefix}{reference}{suffix}?waitMs={ms}"),
            None => format!("{base}{prefix}{reference}{suffix}"),
        }
    }
}
