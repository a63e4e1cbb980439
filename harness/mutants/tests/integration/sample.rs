use std::io::Write as _;
use std::sync::Arc;

use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_mutants::{CANARIES, TestBed, sample_advice, sample_matrix};

use crate::support::{block_on, test_bed};

/// Only a sample of the mutants: `just mutants --gate` runs all of them, and judges fingerprints and causes.
#[test]
fn each_case_kills_a_mutant_of_its_row() {
    let sample = block_on(sample_matrix(&test_bed(), 12)).unwrap();
    // Not captured: the output of a green run says what was played.
    writeln!(std::io::stderr(), "{}", sample.line()).unwrap();
    let matrix = &sample.matrix;
    assert_eq!(matrix.problems, Vec::<String>::new());
    assert_eq!(matrix.summary.killers + matrix.summary.exempt, matrix.summary.cases);
    assert!(matrix.mutants.len() < sample.all);
    let ids: Vec<&str> = matrix.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(CANARIES.iter().find(|id| !ids.contains(id)), None);
    let html = matrix.to_html();
    assert!(matrix.mutants.iter().all(|mutant| html.contains(&mutant.id)) && html.ends_with("</html>\n"));
}

#[test]
fn each_case_of_the_earlier_version_kills_a_mutant_of_its_row() {
    let bed = TestBed::new(Arc::new(Spec::builtin(Version::PreSeal))).unwrap();
    let matrix = block_on(sample_matrix(&bed, 12)).unwrap().matrix;
    assert_eq!(matrix.problems, Vec::<String>::new());
    assert_eq!(matrix.summary.killers + matrix.summary.exempt, matrix.summary.cases);
}

/// The gate plays the mutants of all advice.
#[test]
fn mutants_of_an_advice_print_it_first() {
    let (problems, played) = block_on(sample_advice(&test_bed(), 4, 12)).unwrap();
    assert_eq!(problems, Vec::<String>::new());
    assert!(played >= 15, "{played}");
}
