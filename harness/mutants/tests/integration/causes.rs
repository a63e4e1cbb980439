//! The cause that each mutant names.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use edgeproof_fixtures::spec::{PartName, Spec, Version};
use edgeproof_mutants::{
    BehaviourMutation, Mutant, MutantSet, Mutation, TestBed, collector_mutants, left_out_of_collectors,
};

fn all_mutants(spec: &Spec) -> Vec<Mutant> {
    let set = MutantSet::new(spec);
    set.mutants.into_iter().chain(set.equivalent).chain(collector_mutants(spec)).collect()
}

/// The mutants that some case kills.
fn killed_mutants(spec: &Spec) -> Vec<Mutant> {
    MutantSet::new(spec).mutants.into_iter().chain(collector_mutants(spec)).collect()
}

/// Whether a mutant breaks this part. Service and key set are one program: the cases of the broken row tell them apart.
fn breaks(bed: &TestBed, mutant: &Mutant, part: PartName) -> bool {
    if matches!(mutant.mutation, Mutation::Collector(_)) {
        return part == PartName::Collector;
    }
    mutant.mutation.affects(part) && bed.cases(part).iter().any(|case| case.rows.contains(&mutant.row))
}

#[test]
fn each_mutant_names_a_cause_of_its_part() {
    for version in Version::ALL {
        let bed = TestBed::new(Arc::new(Spec::builtin(*version))).unwrap();
        for mutant in all_mutants(&bed.spec) {
            let part = bed.spec.cause(&mutant.cause).map(|cause| cause.part);
            let is_of_part = part.is_some_and(|part| breaks(&bed, &mutant, part));
            assert!(is_of_part, "{}: {} is a cause of {part:?}", mutant.id, mutant.cause);
        }
    }
    let spec = Spec::builtin(Version::Current);
    for facts in BehaviourMutation::all().map(BehaviourMutation::facts) {
        assert!(spec.cause(facts.cause).is_some(), "{}: {}", facts.name, facts.cause);
    }
}

/// The share of all cases tells this cause, and no fingerprint.
const WITHOUT_MUTANTS: &str = "rate-limited";

/// The measurement without a mutant recognises a cause by its other mutants.
#[test]
fn each_cause_has_two_mutants() {
    let spec = Spec::builtin(Version::Current);
    let mutants = killed_mutants(&spec);
    let count = |cause: &str| mutants.iter().filter(|mutant| mutant.cause == cause).count();
    let causes = spec.causes().iter().map(|cause| &cause.id).filter(|id| *id != WITHOUT_MUTANTS);
    let few: Vec<_> = causes.filter(|id| count(id) < 2).collect();
    assert_eq!(few, Vec::<&String>::new());
}

/// A cause with a large share of the mutants of its part would explain too much.
#[test]
fn no_cause_has_a_large_share_of_the_mutants_of_its_part() {
    let spec = Spec::builtin(Version::Current);
    let mutants = killed_mutants(&spec);
    let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut parts: BTreeMap<PartName, usize> = BTreeMap::new();
    for mutant in &mutants {
        *causes.entry(&mutant.cause).or_default() += 1;
        *parts.entry(spec.cause(&mutant.cause).unwrap().part).or_default() += 1;
    }
    let mut list = String::new();
    for (part, count) in &parts {
        _ = writeln!(list, "{part}: {count}");
    }
    for cause in spec.causes().iter().filter(|cause| cause.id != WITHOUT_MUTANTS) {
        let count = causes[cause.id.as_str()];
        _ = writeln!(list, "{:<30} {count}", cause.id);
        // A service has as many statuses to get wrong as it has refusals. The key set has few causes.
        let share = match cause.part {
            PartName::Edge => 8,
            PartName::Service => 6,
            PartName::Keys => 2,
            // Each error of the table has many wrong forms.
            PartName::Collector => 3,
        };
        assert!(count * share <= parts[&cause.part], "{}: {count}", cause.id);
    }
    insta::assert_snapshot!(list);
}

#[test]
fn collector_without_a_mutant_is_recognised_by_its_other_mutants() {
    let share = left_out_of_collectors();
    assert!(share.percent() >= 70.0, "first cause right: {share}");
}

/// The gate plays them: a run of each prints the advice first.
#[test]
fn advice_names_mutants_of_its_cause() {
    let spec = Spec::builtin(Version::Current);
    let mutants = all_mutants(&spec);
    let mut named = 0;
    for advice in spec.advice() {
        for id in &advice.mutants {
            let mutant = mutants.iter().find(|mutant| mutant.id == *id);
            let cause = mutant.map(|mutant| mutant.cause.as_str());
            assert!(cause.is_some(), "{}: there is no mutant {id}", advice.id);
            assert!(advice.cause.is_none() || advice.cause.as_deref() == cause, "{}: {id}", advice.id);
            named += 1;
        }
    }
    assert!(named > 100, "{named}");
}
