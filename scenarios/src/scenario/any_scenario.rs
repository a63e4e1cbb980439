use std::sync::Arc;
use std::time::Instant;

use edgeproof_http::ServerAddress;

use super::edge_relay::EdgeRelay;
use super::journey::Journey;
use super::verdict_polling::VerdictPolling;
use crate::engine::{LoadUser, OperationEnd, Scenario};
use crate::measure::RouteId;
use crate::plan::ScheduledOperation;

/// One of the scenarios.
pub enum AnyScenario {
    /// Posts collections to an edge.
    EdgeRelay(EdgeRelay),
    /// Polls for verdicts.
    VerdictPolling(VerdictPolling),
    /// Posts a collection, then polls for its verdict.
    Journey(Box<Journey>),
}

impl Scenario for AnyScenario {
    fn endpoints(&self) -> Vec<Arc<ServerAddress>> {
        match self {
            Self::EdgeRelay(relay) => relay.endpoints(),
            Self::VerdictPolling(polling) => polling.endpoints(),
            Self::Journey(journey) => journey.endpoints(),
        }
    }

    fn first_route(&self) -> RouteId {
        match self {
            Self::EdgeRelay(relay) => relay.first_route(),
            Self::VerdictPolling(polling) => polling.first_route(),
            Self::Journey(journey) => journey.first_route(),
        }
    }

    async fn play(&self, client: &mut LoadUser, scheduled: ScheduledOperation, due: Instant) -> OperationEnd {
        match self {
            Self::EdgeRelay(relay) => relay.play(client, scheduled, due).await,
            Self::VerdictPolling(polling) => polling.play(client, scheduled, due).await,
            Self::Journey(journey) => journey.play(client, scheduled, due).await,
        }
    }
}
