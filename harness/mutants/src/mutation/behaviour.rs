use crate::behaviour::{Behaviour, BehaviourFacts, Condition};
use crate::edge::{self, EdgeEffect};
use crate::service::{self, ServiceEffect};

/// Wrong behaviour that no answer of a single row shows.
#[derive(Debug, Clone, Copy)]
pub struct BehaviourMutation {
    pub(crate) behaviour: PartBehaviour,
    /// The part behaves correctly at first.
    pub(crate) is_late: bool,
}

/// Behaviour of an edge, or of a service or its key set.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PartBehaviour {
    Edge(&'static Behaviour<EdgeEffect>),
    Service(&'static Behaviour<ServiceEffect>),
}

impl BehaviourMutation {
    /// All behaviour mutations: of edges, then of services.
    pub fn all() -> impl Iterator<Item = Self> {
        let edges = edge::MUTANTS.into_iter().flatten().map(PartBehaviour::Edge);
        let all = edges.chain(service::MUTANTS.into_iter().flatten().map(PartBehaviour::Service));
        all.map(|behaviour| Self { behaviour, is_late: false })
    }

    /// The same behaviour, of a part that behaves correctly at first, if there is such a mutant.
    pub(crate) fn late(self) -> Option<Self> {
        self.facts().late_row.map(|_| Self { is_late: true, ..self })
    }

    /// Name, title and requirement.
    pub fn facts(self) -> BehaviourFacts {
        match self.behaviour {
            PartBehaviour::Edge(behaviour) => behaviour.facts,
            PartBehaviour::Service(behaviour) => behaviour.facts,
        }
    }

    /// Id of the mutant.
    pub(crate) fn id(self) -> String {
        let part = if self.is_of_edge() { "edge" } else { "service" };
        format!("{part}/{}{}", self.facts().name, if self.is_late { "-late" } else { "" })
    }

    /// Id of the row that it breaks.
    pub(crate) fn row(self) -> &'static str {
        let facts = self.facts();
        facts.late_row.filter(|_| self.is_late).unwrap_or(facts.row)
    }

    pub(crate) fn is_of_edge(self) -> bool {
        matches!(self.behaviour, PartBehaviour::Edge(_))
    }

    /// `late`, or no condition.
    pub(crate) fn after(self, late: Condition) -> Condition {
        if self.is_late { late } else { Condition::Always }
    }
}
