use std::sync::LazyLock;

use edgeproof_fixtures::spec::{Endpoint, verdict_path};
use strum::{EnumIter, IntoStaticStr};

/// A scenario of this crate. A mixed run plays several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum ScenarioName {
    /// Collections to the edge.
    EdgeRelay,
    /// Verdict requests to the service.
    VerdictPolling,
    /// Whole sessions: a collection to the edge, then verdict requests to the service.
    Journey,
}

/// Name of a run of several scenarios.
const MIXED: &str = "mixed";

impl ScenarioName {
    /// The name of a run of this scenario, such as `edge-relay`; `mixed` for a run of several.
    pub fn of_run(scenario: Option<Self>) -> &'static str {
        scenario.map_or(MIXED, Self::text)
    }

    /// The name, such as `edge-relay`.
    pub fn text(self) -> &'static str {
        self.into()
    }

    /// The route of its first request.
    pub fn first_route(self) -> &'static str {
        if self.uses_edge() { collection_route() } else { verdict_route() }
    }

    /// Whether it sends collections to the edge.
    pub fn uses_edge(self) -> bool {
        self != Self::VerdictPolling
    }

    /// Whether it asks the service for verdicts.
    pub fn polls(self) -> bool {
        self != Self::EdgeRelay
    }
}

/// Route of a collection, as reports and thresholds name it: `POST /v1/signals`.
pub fn collection_route() -> &'static str {
    static ROUTE: LazyLock<String> = LazyLock::new(|| format!("POST {}", Endpoint::Signals.path()));
    &ROUTE
}

/// Route of a verdict, as reports and thresholds name it: `GET /v1/verdict/{ref}`.
pub fn verdict_route() -> &'static str {
    static ROUTE: LazyLock<String> = LazyLock::new(|| format!("GET {}", verdict_path().with("{ref}")));
    &ROUTE
}
