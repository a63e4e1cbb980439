use std::collections::BTreeMap;
use std::sync::Arc;

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_http::RequestViolation;
use edgeproof_mock::Arrival;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::Breach;

use crate::cases::{Setup, TracedRequest};
use crate::judge::ExpectedAnswer;

/// Everything that one edge did during a run, on all sides.
pub struct EdgeRecord {
    /// Settings of the edge.
    pub setup: Setup,
    /// Only this run uses the service behind the edge.
    pub is_alone: bool,
    /// `LICENSE`.
    pub license: Option<String>,
    /// Client certificate that the edge has to present.
    pub certificate: ExpectedCertificate,
    /// `ALLOWED_ORIGIN`, if known.
    pub origin: Option<String>,
    /// Requests to the edge, in the order of sending.
    pub requests: Vec<TracedRequest>,
    /// Requests at the service behind the edge, in the order of arrival.
    pub arrivals: Vec<Arrival>,
    /// Rules of HTTP/1 that requests at this service broke.
    pub violations: Vec<RequestViolation>,
    /// The edge's log. None: unknown.
    pub log: Option<Vec<String>>,
    /// No line of the log was dropped.
    pub log_is_complete: bool,
    /// Path of collections.
    pub signals: String,
    /// Methods that take collections to it, and `OPTIONS`.
    pub methods: Vec<String>,
    /// The edge's answer to an accepted collection.
    pub accepted: ExpectedAnswer,
    /// Paths of the edge's files, and the address of the service. Empty: unknown.
    pub internals: Vec<String>,
    /// Longest body that the service accepts (bytes).
    pub max_body: usize,
    /// Finds the secrets of the run.
    pub redactor: Arc<Redactor>,
}

/// Client certificate that an edge has to present.
#[derive(Debug, PartialEq, Eq)]
pub enum ExpectedCertificate {
    /// None.
    Absent,
    /// This one (DER).
    Certificate(Vec<u8>),
    /// Open: half of a pair is configured, the certificate expired, or it is unknown.
    Open,
}

impl EdgeRecord {
    /// Whether the method of a request takes collections to the edge.
    pub(super) fn posts(&self, request: &TracedRequest) -> bool {
        let method = request.draft.method.as_str();
        method != "OPTIONS" && self.methods.iter().any(|listed| listed == method)
    }

    /// The collections that arrived completely, relayed or not.
    pub fn relays(&self) -> impl Iterator<Item = &Arrival> {
        self.arrivals.iter().filter(|arrival| arrival.request.method == "POST" && arrival.request.complete)
    }
}

/// The requests to an edge, by their bodies.
pub(super) struct RequestsByBody<'r>(BTreeMap<&'r [u8], Vec<&'r TracedRequest>>);

impl<'r> RequestsByBody<'r> {
    pub(super) fn new(edge: &'r EdgeRecord) -> Self {
        let mut requests: BTreeMap<&[u8], Vec<&TracedRequest>> = BTreeMap::new();
        for request in &edge.requests {
            requests.entry(request.draft.body.bytes()).or_default().push(request);
        }
        Self(requests)
    }

    /// The requests with this body.
    pub(super) fn with(&self, body: &[u8]) -> &[&'r TracedRequest] {
        self.0.get(body).map_or(&[], Vec::as_slice)
    }

    /// Level of the strictest request with this body.
    pub(super) fn level(&self, body: &[u8]) -> CaseLevel {
        self.with(body).iter().map(|request| request.sender.level).min().unwrap_or(CaseLevel::Must)
    }

    /// A breach by an arrival: by the case of the request with its body.
    pub(super) fn breach(&self, arrival: &Arrival) -> Breach {
        let request = self.with(&arrival.request.body).first();
        Breach {
            case: request.map(|request| request.sender.case.clone()),
            number: Some(arrival.number + 1),
            ..Breach::default()
        }
    }
}
