use std::sync::Arc;
use std::time::Instant;

use edgeproof_http::ServerAddress;

use super::edge_relay::{EdgeRelay, operation_end};
use super::verdict_polling::VerdictPolling;
use crate::engine::{LoadUser, OperationEnd, Scenario};
use crate::measure::RouteId;
use crate::plan::ScheduledOperation;

/// One session: posts a collection, then polls for its verdict.
pub struct Journey {
    /// The first part.
    pub relay: EdgeRelay,
    /// The second part.
    pub polling: VerdictPolling,
}

impl Scenario for Journey {
    fn endpoints(&self) -> Vec<Arc<ServerAddress>> {
        vec![Arc::clone(&self.relay.endpoint), Arc::clone(&self.polling.endpoint)]
    }

    fn first_route(&self) -> RouteId {
        self.relay.route
    }

    async fn play(&self, client: &mut LoadUser, scheduled: ScheduledOperation, due: Instant) -> OperationEnd {
        client.start_waiting_for_verdict(due, self.polling.route);
        let (reply, reference) = self.relay.post(client, scheduled, due).await;
        if !reply.expected {
            client.record_no_verdict();
            return operation_end(&reply);
        }
        let now = Instant::now();
        self.polling.until_verdict(client, 1, scheduled.number, &reference, due, now).await
    }
}
