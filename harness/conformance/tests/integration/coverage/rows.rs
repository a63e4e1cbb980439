//! Cases prove each row.

use std::collections::BTreeSet;

use edgeproof::cases::{CaseFacts, Catalog, all};
use edgeproof_fixtures::spec::{Row, Stimulus, Table, Version};
use edgeproof_mock::ReplyShape;
use rstest::rstest;

use super::catalog;

fn proving<'c>(row: &'c Row, cases: &'c [CaseFacts]) -> impl Iterator<Item = &'c CaseFacts> {
    cases.iter().filter(|case| case.rows.contains(&row.id))
}

#[rstest]
fn every_row_has_a_case_or_an_exclusion(#[values(Version::Current, Version::PreSeal)] version: Version) {
    let (spec, ..) = catalog(version);
    let shape = ReplyShape::from_profile(spec.profile());
    let cases: Vec<CaseFacts> =
        all(Catalog::new(spec, &shape, false)).iter().map(|case| case.facts().clone()).collect();
    let due = spec.rows().iter().filter(|row| row.excluded.is_none());
    let without: Vec<_> =
        due.filter(|row| proving(row, &cases).next().is_none()).map(|row| &row.id).collect();
    assert!(without.is_empty(), "no case proves {without:?}");
}

#[rstest]
fn no_edge_or_relay_row_is_excluded(#[values(Version::Current, Version::PreSeal)] version: Version) {
    let (spec, ..) = catalog(version);
    for row in spec.table(Table::Edge).chain(spec.table(Table::Relay)) {
        assert_eq!(row.excluded, None, "{}", row.id);
    }
}

#[rstest]
fn excluded_and_later_rows_have_no_case(#[values(Version::Current, Version::PreSeal)] version: Version) {
    let (spec, cases, _) = catalog(version);
    let excluded = spec.rows().iter().filter(|row| row.excluded.is_some());
    let proven: Vec<_> =
        excluded.filter(|row| proving(row, cases).next().is_some()).map(|row| &row.id).collect();
    assert!(proven.is_empty(), "{proven:?} have cases, so they need no exclusion");
}

/// Coverage is counted per stimulus, not per row. The mock service's own tests trigger the stimuli of relay rows; through an
/// edge their codes are scripted.
#[rstest]
fn cases_trigger_every_stimulus_of_the_edge_rows(
    #[values(Version::Current, Version::PreSeal)] version: Version,
) {
    let (spec, cases, _) = catalog(version);
    for row in spec.table(Table::Edge) {
        let triggered: BTreeSet<Stimulus> =
            proving(row, cases).flat_map(|case| case.stimuli.iter().copied()).collect();
        let missing: Vec<_> = row.stimuli.iter().filter(|stimulus| !triggered.contains(stimulus)).collect();
        assert!(missing.is_empty(), "no case of {} triggers {missing:?}", row.id);
    }
}

#[rstest]
fn one_case_scripts_each_reason(#[values(Version::Current, Version::PreSeal)] version: Version) {
    let (spec, cases, _) = catalog(version);
    for row in spec.table(Table::Relay) {
        let scripted = proving(row, cases).filter(|case| case.stimuli.contains(&Stimulus::Scripted)).count();
        assert_eq!(scripted, 1, "{}", row.id);
    }
}

/// Statements with stimuli, except open points.
#[rstest]
fn cases_trigger_every_stimulus_of_the_statements(
    #[values(Version::Current, Version::PreSeal)] version: Version,
) {
    let (spec, cases, _) = catalog(version);
    let due =
        spec.table(Table::Statements).filter(|row| row.excluded.is_none() && row.level.name() != "open");
    for row in due {
        let triggered: BTreeSet<Stimulus> =
            proving(row, cases).flat_map(|case| case.stimuli.iter().copied()).collect();
        let missing: Vec<_> = row.stimuli.iter().filter(|stimulus| !triggered.contains(stimulus)).collect();
        assert!(missing.is_empty(), "no case of {} triggers {missing:?}", row.id);
    }
}

#[rstest]
fn cases_trigger_every_stimulus_of_the_collector_rows(
    #[values(Version::Current, Version::PreSeal)] version: Version,
) {
    let (spec, cases, _) = catalog(version);
    for row in spec.table(Table::Collector) {
        let triggered: BTreeSet<Stimulus> =
            proving(row, cases).flat_map(|case| case.stimuli.iter().copied()).collect();
        let missing: Vec<_> = row.stimuli.iter().filter(|stimulus| !triggered.contains(stimulus)).collect();
        assert!(missing.is_empty(), "no case of {} triggers {missing:?}", row.id);
    }
}
