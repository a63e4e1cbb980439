use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

use super::LoadScenario;
use super::collections::CollectionSource;
use super::requests::CollectionRequests;
use crate::engine::{CallResult, Expectation, LoadUser};
use crate::measure::{Code, SAMPLED, ServiceTimes};
use crate::plan::{ScenarioName, Share};

/// Posts collections to an edge. A share of them are replays, which must be refused.
pub struct EdgeRelay {
    /// Encoder of the requests.
    pub requests: CollectionRequests,
    /// Source of the collections.
    pub collections: CollectionSource,
    /// Share of replays.
    pub replays: Share,
    /// The last accepted collection of any user, for replays.
    pub accepted: Mutex<Bytes>,
    /// Expected status and code of a refused replay.
    pub replayed: (u16, Code),
    /// The service's own times, if the service is the built-in mock.
    pub service_times: Option<Arc<ServiceTimes>>,
}

impl LoadScenario for EdgeRelay {
    const NAME: ScenarioName = ScenarioName::EdgeRelay;

    fn route(&self) -> String {
        self.requests.route()
    }

    /// Posts a new collection or a replay.
    async fn play(&self, user: &mut LoadUser) {
        if !self.replays.takes(user.scheduled().number) || !self.replay(user).await {
            self.post(user).await;
        }
    }
}

impl EdgeRelay {
    /// Posts a new collection. Returns its session reference as well.
    pub(super) async fn post(&self, user: &mut LoadUser) -> (CallResult, String) {
        let (scheduled, due) = (user.scheduled(), user.due());
        let collection = self.collections.take(scheduled.number).await;
        let sampled = scheduled.measured && scheduled.number.is_multiple_of(SAMPLED);
        let tracked = self.service_times.as_ref().filter(|_| sampled);
        if let Some(service_times) = tracked {
            service_times.track(&collection.body);
        }
        let call = self.requests.call(&collection.body, Expectation::Accepted);
        let reply = user.call(call, due).await;
        if let Some(took) = tracked.and_then(|service_times| service_times.take(&collection.body))
            && reply.expected
        {
            user.record_edge_latency(reply.service.saturating_sub(took));
        }
        if reply.expected && self.replays.value() > 0.0 {
            *self.accepted.lock() = collection.body;
        }
        (reply, collection.reference)
    }

    /// Posts the last accepted collection again; `false` if there is none yet.
    async fn replay(&self, user: &mut LoadUser) -> bool {
        let accepted = self.accepted.lock().clone();
        if accepted.is_empty() {
            return false;
        }
        let (status, code) = self.replayed;
        let call = self.requests.call(&accepted, Expectation::Refused(status, Some(code)));
        user.call(call, user.due()).await;
        true
    }
}
