use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use edgeproof_fixtures::spec::{Level, PartName, Spec};
use edgeproof_mutants::{BehaviourMutation, Mutant, MutantSet, Mutation, RowMutation, TestBed};
use edgeproof_reports::Outcome;

use crate::support::{block_on, test_bed};

const NEW: &str = r#"
[[row]]
id = "relay.418.short-and-stout"
status = 418
code = "short_and_stout"
condition = "The service is a teapot."
stimuli = ["scripted"]
"#;

const OLD_VERDICT: &str = r#"stimuli = ["read-token-revoked", "read-token-license-revoked"]"#;
const NEW_VERDICT: &str = r#"stimuli = ["read-token-revoked"]

[[row]]
id = "verdict.401.license-revoked"
status = 401
code = "license_revoked"
condition = "The license that the read token belongs to was revoked."
stimuli = ["read-token-license-revoked"]"#;

#[test]
fn a_new_relay_row_gets_mutants_and_its_cases_kill_them() {
    let bed = test_bed_with("relay.toml", |text| text + NEW);
    let cases = bed.cases(PartName::Edge);
    let mutants = mutants_of(&bed, "relay.418.short-and-stout");
    for (mutant, mutation) in &mutants {
        let own = cases.iter().filter(|case| case.rows.contains(&mutant.row));
        let mut results = own.filter_map(|case| bed.play_pure(case, mutation.as_ref(), true));
        assert!(results.any(|result| kills(mutant, result.outcome)), "{} survives", mutant.id);
    }
    assert!(mutants.len() > 15, "only {} mutants", mutants.len());
}

/// The new row takes over a stimulus of another row.
#[test]
fn a_new_verdict_row_gets_mutants_and_its_cases_kill_them() {
    let bed = test_bed_with("verdict.toml", |text| text.replace(OLD_VERDICT, NEW_VERDICT));
    let mutants = mutants_of(&bed, "verdict.401.license-revoked");
    for (mutant, _) in &mutants {
        let mut own = bed.cases(PartName::Service);
        own.retain(|case| case.rows.contains(&mutant.row));
        let result = block_on(bed.play(PartName::Service, &own, Some(mutant.faults()))).unwrap();
        let killer = result.reports.iter().find(|report| kills(mutant, report.outcome));
        assert!(killer.is_some(), "{} survives", mutant.id);
    }
    assert!(mutants.len() > 5, "only {} mutants", mutants.len());
}

/// Mutants that change the answer of this row.
fn mutants_of(bed: &TestBed, row: &str) -> Vec<(Mutant, Arc<RowMutation>)> {
    let mutants = MutantSet::new(&bed.spec).mutants.into_iter();
    let of_row = mutants.filter_map(|mutant| match &mutant.mutation {
        Mutation::Row(mutation) if mutation.row.id == row => {
            let mutation = Arc::clone(mutation);
            Some((mutant, mutation))
        }
        _ => None,
    });
    of_row.collect()
}

fn kills(mutant: &Mutant, outcome: Outcome) -> bool {
    outcome == Outcome::Fail || (mutant.level == Level::Should && outcome == Outcome::Warn)
}

/// Test bed for the built-in tables with one changed file.
fn test_bed_with(file: &str, change: impl Fn(String) -> String) -> TestBed {
    let folder = tempfile::tempdir().unwrap();
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/spec");
    for table in std::fs::read_dir(tables).unwrap().map(Result::unwrap) {
        std::fs::copy(table.path(), folder.path().join(table.file_name())).unwrap();
    }
    let path = folder.path().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let changed = change(text.clone());
    assert_ne!(text, changed);
    std::fs::write(&path, changed).unwrap();
    TestBed::new(Arc::new(Spec::load(folder.path()).unwrap())).unwrap()
}

#[test]
fn ids_are_unique_and_broken_rows_exist() {
    let bed = test_bed();
    let MutantSet { mutants, equivalent, without_sample } = MutantSet::new(&bed.spec);
    assert_eq!(without_sample, Vec::<String>::new());
    let ids: BTreeSet<&str> = mutants.iter().chain(&equivalent).map(|mutant| mutant.id.as_str()).collect();
    assert_eq!(ids.len(), mutants.len() + equivalent.len());
    let rows = mutants.iter().chain(&equivalent).map(|mutant| mutant.row.as_str());
    let behaviours = BehaviourMutation::all().map(BehaviourMutation::facts);
    for row in rows.chain(behaviours.flat_map(|facts| [facts.row, facts.late_row.unwrap_or(facts.row)])) {
        assert!(bed.spec.row(row).is_some(), "no row {row}");
    }
}
