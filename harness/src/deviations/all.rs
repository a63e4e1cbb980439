use fixtures::spec::Spec;

use super::{AtRow, Behaviour, Derived, Deviation, derive};

/// Everything that an edge is made to do otherwise.
#[derive(Debug)]
pub struct Deviations {
    /// The deviations: derived from rows, then behaviours.
    pub all: Vec<Deviation>,
    /// What turned out to be the right answer when it was generated.
    pub equivalent: Vec<Deviation>,
    /// Rows that nothing could be derived from.
    pub without_sample: Vec<String>,
}

impl Deviations {
    /// All for a version of the interface.
    pub fn of(spec: &Spec) -> Self {
        let Derived { deviations, equivalent, without_sample } = derive(spec);
        let at_row = |at: AtRow| Deviation::at_row(spec, at);
        let behaviours = Behaviour::ALL.iter().filter(|behaviour| spec.row(behaviour.row()).is_some());
        Self {
            all: deviations
                .into_iter()
                .map(at_row)
                .chain(behaviours.map(|behaviour| Deviation::behaviour(spec, *behaviour)))
                .collect(),
            equivalent: equivalent.into_iter().map(at_row).collect(),
            without_sample,
        }
    }
}
