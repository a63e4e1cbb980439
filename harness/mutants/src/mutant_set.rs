use edgeproof_fixtures::spec::Spec;

use crate::mutant::Mutant;
use crate::mutation::{BehaviourMutation, derive};

/// All mutants for a version of the interface.
#[derive(Debug, Default)]
pub struct MutantSet {
    /// The mutants: derived from rows, with a behaviour, derived from the model of variation.
    pub mutants: Vec<Mutant>,
    /// Derived mutants that behave correctly.
    pub equivalent: Vec<Mutant>,
    /// Rows that no mutant could be derived from.
    pub without_sample: Vec<String>,
}

impl MutantSet {
    /// Derives and lists all mutants.
    pub fn new(spec: &Spec) -> Self {
        let derived = derive(spec);
        let mut set = Self { without_sample: derived.without_sample, ..Self::default() };
        for mutation in derived.all {
            let list = if mutation.is_equivalent { &mut set.equivalent } else { &mut set.mutants };
            list.push(Mutant::from_row(spec, mutation));
        }
        // An older interface lacks some rows.
        let behaviours = BehaviourMutation::all().filter(|mutation| spec.row(mutation.row()).is_some());
        let behaviours: Vec<_> = behaviours.collect();
        let late = behaviours.iter().filter_map(|mutation| mutation.late());
        let late = late.filter(|mutation| spec.row(mutation.row()).is_some());
        let all = behaviours.iter().copied().chain(late);
        set.mutants.extend(all.map(|mutation| Mutant::from_behaviour(spec, mutation)));
        set.mutants.extend(Mutant::from_variation(spec));
        set.mutants.extend(Mutant::from_settings(spec));
        set
    }
}
