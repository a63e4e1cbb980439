use std::collections::BTreeSet;

use edgeproof_reports::Hop;

use crate::cases::{ServiceExchange, ServiceTraffic};

/// What a run did with a service.
pub(crate) struct ServiceRecord {
    pub(crate) exchanges: Vec<ServiceExchange>,
    pub(crate) sessions: BTreeSet<String>,
}

impl ServiceRecord {
    pub(crate) fn of(traffic: &ServiceTraffic) -> Self {
        Self { exchanges: traffic.exchanges(), sessions: traffic.sessions() }
    }

    /// Exchanges with the verdict endpoint.
    pub(super) fn verdicts(&self) -> impl Iterator<Item = &ServiceExchange> {
        self.exchanges.iter().filter(|exchange| exchange.hop == Hop::ClientService)
    }

    /// Exchanges with the key set.
    pub(super) fn key_sets(&self) -> impl Iterator<Item = &ServiceExchange> {
        self.exchanges.iter().filter(|exchange| exchange.hop == Hop::ClientKeys)
    }
}
