use std::sync::Arc;

use bytes::Bytes;

use edgeproof_http::ServerAddress;
use goose::goose::{Scenario, Transaction, TransactionFunction};
use parking_lot::Mutex;

use super::collection_source::CollectionSource;
use super::requests::CollectionRequests;
use crate::engine::{Call, CallResult, Expectation, LoadUser};
use crate::measure::{Code, RouteId, SAMPLED, ServiceTimes};
use crate::plan::{ScenarioName, Share};

/// Posts collections to an edge. A share of them are replays, which must be refused.
pub struct EdgeRelay {
    /// Endpoint of the edge.
    pub endpoint: Arc<ServerAddress>,
    /// Encoder of the requests.
    pub collection_requests: CollectionRequests,
    /// Source of the collections.
    pub collections: CollectionSource,
    /// Share of replays.
    pub replays: Share,
    /// The last accepted collection of any user, for replays.
    pub accepted: Mutex<Bytes>,
    /// Expected code of a refused replay.
    pub replayed: Code,
    /// The route.
    pub route: RouteId,
    /// The service's own times, if the service is the built-in mock.
    pub service_times: Option<Arc<ServiceTimes>>,
}

impl EdgeRelay {
    /// The goose scenario. Its transaction posts a new collection or a replay.
    pub fn scenario(self) -> Scenario {
        let route = self.collection_requests.route().to_owned();
        let relay = Arc::new(self);
        let post: TransactionFunction = Arc::new(move |user| {
            let relay = Arc::clone(&relay);
            Box::pin(async move {
                let user = LoadUser::of(user);
                if !relay.replays.takes(user.scheduled().number) || !relay.replay(user).await {
                    relay.post(user).await;
                }
                Ok(())
            })
        });
        Scenario::new(ScenarioName::EdgeRelay.text())
            .register_transaction(Transaction::new(post).set_name(&route))
    }

    /// Posts a new collection. Returns its session reference as well.
    pub(super) async fn post(&self, user: &mut LoadUser) -> (CallResult, String) {
        let (scheduled, due) = (user.scheduled(), user.due());
        let collection = self.collections.take(scheduled.number).await;
        let sampled = scheduled.measured && scheduled.number.is_multiple_of(SAMPLED);
        let tracked = self.service_times.as_ref().filter(|_| sampled);
        let tracked = tracked.map(|service_times| (service_times, service_times.track(&collection.body)));
        let call = Call {
            route: self.route,
            endpoint: &self.endpoint,
            request: self.collection_requests.request(&collection.body),
            expect: Expectation::Accepted,
        };
        let reply = user.call(call, due).await;
        if let Some((service_times, key)) = tracked
            && let Some(took) = service_times.take(key)
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
        let call = Call {
            route: self.route,
            endpoint: &self.endpoint,
            request: self.collection_requests.request(&accepted),
            expect: Expectation::Refused(409, Some(self.replayed)),
        };
        user.call(call, user.due()).await;
        true
    }
}
