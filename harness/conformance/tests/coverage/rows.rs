//! From the rows to the cases.

use std::collections::BTreeSet;

use edgeproof::cases::{Case, Catalog, all};
use edgeproof_fixtures::spec::{Coverage, Row, Stimulus, Table, Version};
use edgeproof_mock::ReplyShape;
use rstest::rstest;

use crate::catalog;

fn proving<'c>(row: &'c Row, cases: &'c [Case]) -> impl Iterator<Item = &'c Case> {
    cases.iter().filter(|case| case.rows.contains(&row.id))
}

#[rstest]
fn every_row_has_a_case_or_says_why_not(#[values(Version::Current, Version::PreSeal)] version: Version) {
    let (spec, _) = catalog(version);
    let shape = ReplyShape::from_profile(spec.profile());
    let cases = all(|| Catalog::new(spec, &shape, false));
    let due = spec.rows().iter().filter(|row| row.coverage == Coverage::Cases);
    let without: Vec<_> =
        due.filter(|row| proving(row, &cases).next().is_none()).map(|row| &row.id).collect();
    assert!(without.is_empty(), "no case proves {without:?}");
}

#[rstest]
fn rows_of_the_edge_and_of_the_relay_are_never_put_off(
    #[values(Version::Current, Version::PreSeal)] version: Version,
) {
    let (spec, _) = catalog(version);
    for row in spec.table(Table::Edge).chain(spec.table(Table::Relay)) {
        assert_eq!(row.coverage, Coverage::Cases, "{}", row.id);
    }
}

#[rstest]
fn what_waits_or_is_excluded_has_no_case(#[values(Version::Current, Version::PreSeal)] version: Version) {
    let (spec, cases) = catalog(version);
    let put_off = spec.rows().iter().filter(|row| row.coverage != Coverage::Cases);
    let proven: Vec<_> =
        put_off.filter(|row| proving(row, cases).next().is_some()).map(|row| &row.id).collect();
    assert!(proven.is_empty(), "{proven:?} have cases: they wait for nothing");
}

/// Coverage is counted for each way in which a row comes about, not for each row. The causes of relay rows are brought
/// about at the mock service itself, in its own tests; through an edge, their codes are scripted.
#[rstest]
fn every_stimulus_of_the_edges_rows_is_brought_about(
    #[values(Version::Current, Version::PreSeal)] version: Version,
) {
    let (spec, cases) = catalog(version);
    for row in spec.table(Table::Edge) {
        let brought: BTreeSet<Stimulus> =
            proving(row, cases).flat_map(|case| case.stimuli.iter().copied()).collect();
        let missing: Vec<_> = row.stimuli.iter().filter(|stimulus| !brought.contains(stimulus)).collect();
        assert!(missing.is_empty(), "no case of {} brings about {missing:?}", row.id);
    }
}

#[rstest]
fn every_reason_is_scripted_through_the_edge(#[values(Version::Current, Version::PreSeal)] version: Version) {
    let (spec, cases) = catalog(version);
    for row in spec.table(Table::Relay) {
        let scripted = proving(row, cases).filter(|case| case.stimuli.contains(&Stimulus::Scripted)).count();
        assert_eq!(scripted, 1, "{}", row.id);
    }
}

/// A statement that names its causes is proven with one of them at least; some have others where they are open.
#[rstest]
fn statements_are_proven_with_their_own_stimuli(
    #[values(Version::Current, Version::PreSeal)] version: Version,
) {
    let (spec, cases) = catalog(version);
    let due = spec
        .table(Table::Statements)
        .filter(|row| row.coverage == Coverage::Cases && row.level.name() != "open");
    for row in due {
        let brought: BTreeSet<Stimulus> =
            proving(row, cases).flat_map(|case| case.stimuli.iter().copied()).collect();
        let missing: Vec<_> = row.stimuli.iter().filter(|stimulus| !brought.contains(stimulus)).collect();
        assert!(missing.is_empty(), "no case of {} brings about {missing:?}", row.id);
    }
}
