//! Mutants of the collector. Their kill matrix needs Chromium: `just mutants-collector`.

use std::collections::BTreeSet;

use edgeproof::cases::{self, Catalog};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_mock::ReplyShape;
use edgeproof_mutants::{Mutation, collector_mutants};

#[test]
fn each_collector_mutant_has_an_id_and_a_script_of_its_own() {
    let mutants = collector_mutants(&Spec::builtin(Version::Current));
    let ids: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.id.as_str()).collect();
    let scripts: BTreeSet<&str> = mutants
        .iter()
        .map(|mutant| match &mutant.mutation {
            Mutation::Collector(mutation) => &*mutation.module,
            other => panic!("{}: {other:?}", mutant.id),
        })
        .collect();
    assert_eq!((ids.len(), scripts.len()), (mutants.len(), mutants.len()));
}

/// Otherwise nothing shows that the cases of the row can fail.
#[test]
fn each_row_of_collector_cases_has_a_mutant() {
    let spec = Spec::builtin(Version::Current);
    let shape = ReplyShape::from_profile(spec.profile());
    let mutants = collector_mutants(&spec);
    let broken: BTreeSet<&str> = mutants.iter().map(|mutant| mutant.row.as_str()).collect();
    for case in cases::collector(Catalog::new(&spec, &shape, false)) {
        for row in &case.rows {
            assert!(broken.contains(row.as_str()), "no mutant breaks {row} of {}", case.id);
        }
    }
    for row in broken {
        assert!(spec.row(row).is_some(), "{row}");
    }
}
