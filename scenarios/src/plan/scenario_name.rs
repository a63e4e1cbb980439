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

    /// Whether it sends collections to the edge.
    pub fn uses_edge(self) -> bool {
        self != Self::VerdictPolling
    }

    /// Whether it asks the service for verdicts.
    pub fn polls(self) -> bool {
        self != Self::EdgeRelay
    }
}
