use std::sync::Arc;

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_mock::Arrival;

use crate::cases::TracedRequest;
use crate::judge::ExpectedAnswer;
use crate::target::Setup;

/// Everything that one edge did during a run, on all sides.
pub struct EdgeRecord {
    /// Settings of the edge.
    pub setup: Setup,
    /// Only this run uses the service behind the edge.
    pub is_alone: bool,
    /// `LICENSE`.
    pub license: Option<String>,
    /// Client certificate that the edge has to present. `Err`: open, because half of a pair is configured or it expired.
    pub certificate: Result<Option<Vec<u8>>, ()>,
    /// `ALLOWED_ORIGIN`, if known.
    pub origin: Option<String>,
    /// Requests to the edge, in the order of sending.
    pub requests: Vec<TracedRequest>,
    /// Requests at the service behind the edge, in the order of arrival.
    pub arrivals: Vec<Arrival>,
    /// The edge's log. None: unknown.
    pub log: Option<Vec<String>>,
    /// No line of the log was dropped.
    pub log_is_complete: bool,
    /// The edge's answer to an accepted collection.
    pub accepted: ExpectedAnswer,
    /// Finds the secrets of the run.
    pub redactor: Arc<Redactor>,
}

impl EdgeRecord {
    /// The collections that arrived completely, relayed or not.
    pub fn relays(&self) -> impl Iterator<Item = &Arrival> {
        self.arrivals.iter().filter(|arrival| arrival.request.method == "POST" && arrival.request.complete)
    }
}
