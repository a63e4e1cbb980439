use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use edgeproof_http::ServerAddress;
use parking_lot::Mutex;

use super::collection_source::CollectionSource;
use super::requests::CollectionRequests;
use crate::engine::{Call, CallResult, Expectation, LoadUser, OperationEnd, Scenario};
use crate::measure::{Code, RequestOutcome, RouteId, SAMPLED, ServiceTimes};
use crate::plan::{ScheduledOperation, Share};

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
    /// Posts a new collection.
    pub async fn post(
        &self,
        client: &mut LoadUser,
        scheduled: ScheduledOperation,
        due: Instant,
    ) -> (CallResult, String) {
        let collection = self.collections.take(scheduled.number).await;
        let sampled = scheduled.measured && scheduled.number.is_multiple_of(SAMPLED);
        let tracked = self.service_times.as_ref().filter(|_| sampled);
        let tracked = tracked.map(|service_times| (service_times, service_times.track(&collection.body)));
        let call = Call {
            route: self.route,
            connection: 0,
            request: self.collection_requests.request(collection.body.clone()),
            expect: Expectation::Accepted,
        };
        let reply = client.call(call, due).await;
        if let Some((service_times, key)) = tracked
            && let Some(took) = service_times.take(key)
            && reply.expected
        {
            client.run().recorder.added(client.id, reply.service.saturating_sub(took));
        }
        if reply.expected && self.replays.value() > 0.0 {
            *self.accepted.lock() = collection.body;
        }
        (reply, collection.reference)
    }

    /// Posts the last accepted collection again; `None` if there is none yet.
    async fn replay(&self, client: &mut LoadUser, due: Instant) -> Option<CallResult> {
        let accepted = self.accepted.lock().clone();
        if accepted.is_empty() {
            return None;
        }
        let call = Call {
            route: self.route,
            connection: 0,
            request: self.collection_requests.request(accepted),
            expect: Expectation::Refused(409, Some(self.replayed)),
        };
        Some(client.call(call, due).await)
    }
}

impl Scenario for EdgeRelay {
    fn endpoints(&self) -> Vec<Arc<ServerAddress>> {
        vec![Arc::clone(&self.endpoint)]
    }

    fn first_route(&self) -> RouteId {
        self.route
    }

    async fn play(&self, client: &mut LoadUser, scheduled: ScheduledOperation, due: Instant) -> OperationEnd {
        if self.replays.takes(scheduled.number)
            && let Some(reply) = self.replay(client, due).await
        {
            return operation_end(&reply);
        }
        operation_end(&self.post(client, scheduled, due).await.0)
    }
}

/// The end of an operation, from the result of its last request.
pub(super) fn operation_end(reply: &CallResult) -> OperationEnd {
    match reply.outcome {
        RequestOutcome::Answer { .. } if reply.expected => OperationEnd::Answered,
        RequestOutcome::Answer { .. } => OperationEnd::Unexpected,
        _ => OperationEnd::Failed,
    }
}
