use std::collections::HashSet;

use edgeproof_http::{Draft, Sent};
use edgeproof_reports::CaseLevel;
use parking_lot::Mutex;

/// All requests to one edge during a run.
#[derive(Debug, Default)]
pub struct Traffic(Mutex<Vec<TracedRequest>>);

/// A request to an edge, and its answer once there is one.
#[derive(Debug, Clone)]
pub struct TracedRequest {
    /// The case that sent it.
    pub sender: Sender,
    /// The request as drafted.
    pub draft: Draft,
    /// Request and answer. None: unanswered, or given up.
    pub sent: Option<Sent>,
}

/// The case behind a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// Id of the case, or the step of the run that sent the request.
    pub case: String,
    /// Level of the case.
    pub level: CaseLevel,
    /// The text that no other case sends.
    pub marker: String,
}

impl Traffic {
    /// Records that a request is about to be sent. Returns its number.
    pub fn begin(&self, sender: Sender, draft: &Draft) -> usize {
        let mut requests = self.0.lock();
        requests.push(TracedRequest { sender, draft: draft.clone(), sent: None });
        requests.len() - 1
    }

    /// Records the answer to the request with this number.
    pub fn end(&self, number: usize, sent: Sent) {
        if let Some(request) = self.0.lock().get_mut(number) {
            request.sent = Some(sent);
        }
    }

    /// Number of requests so far.
    pub fn count(&self) -> usize {
        self.0.lock().len()
    }

    /// Ids of the cases and steps that sent requests, in the order of their first one.
    pub fn senders(&self) -> Vec<String> {
        let requests = self.0.lock();
        let mut known = HashSet::new();
        let senders = requests.iter().map(|request| &request.sender.case);
        senders.filter(|case| known.insert(*case)).cloned().collect()
    }

    /// All requests so far, in the order of sending.
    pub fn requests(&self) -> Vec<TracedRequest> {
        self.0.lock().clone()
    }
}

impl TracedRequest {
    /// The framing or a header is invalid on purpose.
    pub fn is_broken(&self) -> bool {
        self.draft.body.is_malformed()
    }
}
