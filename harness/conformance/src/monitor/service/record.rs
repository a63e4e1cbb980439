use std::collections::BTreeSet;

use edgeproof_fixtures::spec::{Spec, VerdictPath};
use edgeproof_reports::Hop;

use crate::cases::{ServiceExchange, ServiceTraffic};

/// What a run did with a service.
pub(crate) struct ServiceRecord {
    pub(crate) exchanges: Vec<ServiceExchange>,
    pub(crate) sessions: BTreeSet<String>,
    pub(crate) path: VerdictPath,
}

impl ServiceRecord {
    pub(crate) fn of(traffic: &ServiceTraffic, spec: &Spec) -> Self {
        let (exchanges, sessions) = (traffic.exchanges(), traffic.sessions());
        Self { exchanges, sessions, path: spec.verdict_path().clone() }
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
