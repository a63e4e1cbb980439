use edgeproof_fixtures::spec::Spec;

use super::{AtRow, AtServiceRow, Behaviour, Derived, Deviation, ServiceBehaviour, derive, derive_serving};

/// Everything that an edge, a service and a key set are made to do otherwise.
#[derive(Debug)]
pub struct Deviations {
    /// The deviations: of edges, then of services; derived from rows, then behaviours.
    pub all: Vec<Deviation>,
    /// What turned out to be the right answer when it was generated.
    pub equivalent: Vec<Deviation>,
    /// Rows that nothing could be derived from.
    pub without_sample: Vec<String>,
}

impl Deviations {
    /// All for a version of the interface.
    pub fn of(spec: &Spec) -> Self {
        let mut found = Self { all: Vec::new(), equivalent: Vec::new(), without_sample: Vec::new() };
        found.derived(derive(spec), |at: AtRow| Deviation::at_row(spec, at));
        let known = |row: &str| spec.row(row).is_some();
        let behaviours = Behaviour::ALL.iter().filter(|behaviour| known(behaviour.row()));
        found.all.extend(behaviours.map(|behaviour| Deviation::behaviour(spec, *behaviour)));
        found.derived(derive_serving(spec), |at: AtServiceRow| Deviation::at_service_row(spec, at));
        let behaviours = ServiceBehaviour::ALL.iter().filter(|behaviour| known(behaviour.row()));
        found.all.extend(behaviours.map(|behaviour| Deviation::service_behaviour(spec, *behaviour)));
        found
    }

    fn derived<T>(&mut self, derived: Derived<T>, deviation: impl Fn(T) -> Deviation) {
        self.all.extend(derived.deviations.into_iter().map(&deviation));
        self.equivalent.extend(derived.equivalent.into_iter().map(&deviation));
        self.without_sample.extend(derived.without_sample);
    }
}
