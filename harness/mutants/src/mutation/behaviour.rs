use std::fmt::Debug;
use std::sync::OnceLock;

use edgeproof_edge::EdgeOptions;
use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_mock::ServiceOptions;

use crate::behaviour::{Behaviour, BehaviourFacts, Condition};
use crate::edge::{self, EdgeEffect};
use crate::service::{self, ServiceEffect};

/// Wrong behaviour that no answer of a single row shows.
#[derive(Debug, Clone, Copy)]
pub struct BehaviourMutation {
    behaviour: &'static dyn PartBehaviour,
    /// The part behaves correctly at first.
    pub(crate) is_late: bool,
}

/// Behaviour of one part: it changes no other part.
trait PartBehaviour: Debug + Sync {
    fn facts(&self) -> BehaviourFacts;

    /// First part of the mutant's id.
    fn part(&self) -> &'static str;

    /// Changes an edge. `first`: the settings of the run's first one.
    fn edge(&self, _is_late: bool, _options: &mut EdgeOptions, _first: &OnceLock<EdgeSettings>) {}

    /// Changes a service and its key set.
    fn service(&self, _is_late: bool, _options: &mut ServiceOptions) {}
}

impl PartBehaviour for Behaviour<EdgeEffect> {
    fn facts(&self) -> BehaviourFacts {
        self.facts
    }

    fn part(&self) -> &'static str {
        EDGE
    }

    fn edge(&self, is_late: bool, options: &mut EdgeOptions, first: &OnceLock<EdgeSettings>) {
        let first = first.get_or_init(|| options.settings.clone());
        edge::inject(self, after(is_late, edge::LATE), options, first);
    }
}

impl PartBehaviour for Behaviour<ServiceEffect> {
    fn facts(&self) -> BehaviourFacts {
        self.facts
    }

    fn part(&self) -> &'static str {
        "service"
    }

    fn service(&self, is_late: bool, options: &mut ServiceOptions) {
        service::inject(self, after(is_late, service::LATE), options);
    }
}

/// First part of the ids of mutants of edges.
const EDGE: &str = "edge";

/// `late`, or no condition.
fn after(is_late: bool, late: Condition) -> Condition {
    if is_late { late } else { Condition::Always }
}

impl BehaviourMutation {
    /// All behaviour mutations: of edges, then of services.
    pub fn all() -> impl Iterator<Item = Self> {
        let edges = edge::MUTANTS.into_iter().flatten().map(|one| one as &dyn PartBehaviour);
        let all = edges.chain(service::MUTANTS.into_iter().flatten().map(|one| one as &dyn PartBehaviour));
        all.map(|behaviour| Self { behaviour, is_late: false })
    }

    /// The same behaviour, of a part that behaves correctly at first, if there is such a mutant.
    pub(crate) fn late(self) -> Option<Self> {
        self.facts().late_row.map(|_| Self { is_late: true, ..self })
    }

    /// Name, title and requirement.
    pub fn facts(self) -> BehaviourFacts {
        self.behaviour.facts()
    }

    /// Id of the mutant.
    pub(crate) fn id(self) -> String {
        format!("{}/{}{}", self.behaviour.part(), self.facts().name, if self.is_late { "-late" } else { "" })
    }

    /// Id of the row that it breaks.
    pub(crate) fn row(self) -> &'static str {
        let facts = self.facts();
        facts.late_row.filter(|_| self.is_late).unwrap_or(facts.row)
    }

    pub(crate) fn is_of_edge(self) -> bool {
        self.behaviour.part() == EDGE
    }

    /// Changes an edge, if it is a behaviour of edges. `first`: the settings of the run's first one.
    pub(crate) fn inject_edge(self, options: &mut EdgeOptions, first: &OnceLock<EdgeSettings>) {
        self.behaviour.edge(self.is_late, options, first);
    }

    /// Changes a service and its key set, if it is a behaviour of services.
    pub(crate) fn inject_service(self, options: &mut ServiceOptions) {
        self.behaviour.service(self.is_late, options);
    }
}
