use super::behaviour_facts::BehaviourFacts;
use super::edge_behaviour::EdgeBehaviour;
use super::service_behaviour::ServiceBehaviour;

/// Wrong behaviour that no answer of a single row shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BehaviourMutation {
    /// Of an edge.
    Edge(EdgeBehaviour),
    /// Of a service or its key set.
    Service(ServiceBehaviour),
}

impl BehaviourMutation {
    /// All behaviour mutations: of edges, then of services.
    pub fn all() -> impl Iterator<Item = Self> {
        let edges = EdgeBehaviour::ALL.iter().map(|behaviour| Self::Edge(*behaviour));
        edges.chain(ServiceBehaviour::ALL.iter().map(|behaviour| Self::Service(*behaviour)))
    }

    /// Name, title and requirement.
    pub fn facts(self) -> BehaviourFacts {
        match self {
            Self::Edge(behaviour) => behaviour.facts(),
            Self::Service(behaviour) => behaviour.facts(),
        }
    }

    /// Id of the mutant.
    pub fn id(self) -> String {
        let prefix = match self {
            Self::Edge(_) => "edge",
            Self::Service(_) => "service",
        };
        format!("{prefix}/{}", self.facts().name)
    }
}
