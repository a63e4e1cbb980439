use std::sync::Arc;

use edgeproof_fixtures::credentials::{Credentials, ReadTokenForm};
use edgeproof_fixtures::spec::{Endpoint, Spec, Table, VerdictPath};
use edgeproof_http::ServerAddress;

use crate::engine::{Call, Expectation, HeaderFields, OutgoingRequest};
use crate::measure::{Codes, RouteId};

/// Encodes collection requests to an edge.
#[derive(Clone)]
pub struct CollectionRequests {
    /// The edge.
    pub endpoint: Arc<ServerAddress>,
    route_id: RouteId,
    path: String,
    target: String,
    fields: HeaderFields,
}

/// Encodes verdict requests to a service.
#[derive(Clone)]
pub struct VerdictRequests {
    /// The service.
    pub endpoint: Arc<ServerAddress>,
    /// The route.
    pub route_id: RouteId,
    base: String,
    path: VerdictPath,
    /// Includes the read token.
    fields: HeaderFields,
    bad: Vec<(HeaderFields, Expectation<'static>)>,
}

/// An `Authorization` header that the service must refuse, and the refusal.
pub type BadToken = (Option<String>, Expectation<'static>);

impl CollectionRequests {
    /// Requests to this edge, from a page of this origin. `None` if the origin is not a valid header value.
    pub fn new(spec: &Spec, endpoint: ServerAddress, origin: &str, route_id: RouteId) -> Option<Self> {
        let fields =
            [("Host", endpoint.authority()), ("Content-Type", "application/json"), ("Origin", origin)];
        let fields = HeaderFields::new(fields)?;
        let path = spec.path(Endpoint::Signals).to_owned();
        let target = format!("{}{path}", endpoint.base());
        Some(Self { endpoint: Arc::new(endpoint), route_id, path, target, fields })
    }

    /// Route of a collection, as reports and thresholds name it: `POST /v1/signals`.
    pub fn route(&self) -> String {
        format!("POST {}", self.path)
    }

    /// The call for a collection.
    pub fn call<'a>(&'a self, body: &[u8], expect: Expectation<'a>) -> Call<'a> {
        let request = self.fields.post(&self.target, body);
        Call { route: self.route_id, endpoint: &self.endpoint, request, expect }
    }
}

impl VerdictRequests {
    /// Requests to this service, with this read token or one of the invalid ones. `None` if a value is not a valid
    /// header value.
    pub fn new(
        spec: &Spec,
        endpoint: ServerAddress,
        authorization: &str,
        bad: Vec<BadToken>,
        route_id: RouteId,
    ) -> Option<Self> {
        let host = ("Host", endpoint.authority());
        let with = |authorization: Option<&str>| {
            HeaderFields::new([host].into_iter().chain(authorization.map(|value| ("Authorization", value))))
        };
        let bad = bad.into_iter();
        let bad = bad.map(|(authorization, expect)| Some((with(authorization.as_deref())?, expect)));
        let (bad, fields) = (bad.collect::<Option<_>>()?, with(Some(authorization))?);
        let (base, path) = (endpoint.base().to_owned(), spec.verdict_path().clone());
        Some(Self { endpoint: Arc::new(endpoint), route_id, base, path, fields, bad })
    }

    /// Route of a verdict, as reports and thresholds name it: `GET /v1/verdict/{ref}`.
    pub fn route(&self) -> String {
        format!("GET {}", self.path.with("{ref}"))
    }

    /// Whether there are invalid tokens.
    pub fn has_bad_tokens(&self) -> bool {
        !self.bad.is_empty()
    }

    /// The call for a verdict, with `waitMs` if `wait` is given.
    pub fn call<'a>(&'a self, reference: &str, wait: Option<u64>, expect: Expectation<'a>) -> Call<'a> {
        self.calling(self.fields.get(&self.target(reference, wait)), expect)
    }

    /// A call with one of the invalid tokens.
    pub fn bad_call(&self, reference: &str, number: u64) -> Call<'_> {
        let (fields, expect) = &self.bad[choose(number, self.bad.len())];
        self.calling(fields.get(&self.target(reference, None)), *expect)
    }

    fn calling<'a>(&'a self, request: OutgoingRequest, expect: Expectation<'a>) -> Call<'a> {
        Call { route: self.route_id, endpoint: &self.endpoint, request, expect }
    }

    fn target(&self, reference: &str, wait: Option<u64>) -> String {
        // A reference with invalid bytes becomes empty: the service refuses the request, and the report
        // counts it.
        let fits = reference.bytes().all(|byte| byte > b' ' && byte != 0x7f);
        let reference = if fits { reference } else { "" };
        let query = wait.map(|ms| format!("?waitMs={ms}")).unwrap_or_default();
        format!("{}{}{query}", self.base, self.path.with(reference))
    }
}

/// Invalid tokens of these forms, with the refusals that the tables state. With `any_code` a refusal may have any code of the
/// tables.
pub fn bad_tokens(
    forms: &[ReadTokenForm],
    spec: &Spec,
    codes: &Codes,
    credentials: &Credentials,
    any_code: bool,
) -> Vec<BadToken> {
    let token = |form: &ReadTokenForm| {
        let (status, code) = codes.refusal(spec.by_stimulus(Table::Verdict, form.stimulus()?)?);
        let expect = Expectation::Refused(status, (!any_code).then_some(code));
        Some((credentials.authorization(*form), expect))
    };
    forms.iter().filter_map(token).collect()
}

/// A pseudo-random index for an operation. Hashing is needed because a share selects every n-th number, and
/// plain remainders would correlate with it.
pub(super) fn choose(number: u64, choices: usize) -> usize {
    ((number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % choices.max(1) as u64) as usize
}
