//! Each case proves rows.

use std::collections::BTreeSet;

use edgeproof::cases::{CaseFacts, EdgeRule, ExpectedRelay, Phase, Procedure};
use edgeproof_fixtures::spec::{Fact, Level, Row, Table, Version};
use edgeproof_reports::CaseLevel;
use rstest::rstest;

use super::catalog;

#[rstest]
fn each_case_names_known_rows_once(#[values(Version::Current, Version::PreSeal)] version: Version) {
    let (spec, cases, _) = catalog(version);
    for case in cases {
        assert!(!case.rows.is_empty(), "{} proves no row", case.id);
        let rows: BTreeSet<_> = case.rows.iter().collect();
        assert_eq!(rows.len(), case.rows.len(), "{} names a row twice", case.id);
        for row in rows {
            assert!(spec.row(row).is_some(), "{} names {row}, which is not in version {version}", case.id);
        }
    }
}

#[rstest]
fn case_ids_are_unique_slugs(#[values(Version::Current, Version::PreSeal)] version: Version) {
    let (_, cases, _) = catalog(version);
    let mut ids = BTreeSet::new();
    for case in cases {
        assert!(is_slug(&case.id), "{}", case.id);
        assert!(ids.insert(case.id.as_str()), "two cases have the id {}", case.id);
    }
}

/// Baselines and reports of different versions can be compared only if an id means the same in each.
#[test]
fn case_id_means_the_same_in_every_version() {
    let (_, current, current_edge) = catalog(Version::Current);
    let (_, before, before_edge) = catalog(Version::PreSeal);
    let facts = |case: &CaseFacts| (case.title.clone(), case.section.clone(), case.level, case.exclusive);
    for case in before {
        if let Some(other) = current.iter().find(|other| other.id == case.id) {
            assert_eq!(facts(case), facts(other), "{}", case.id);
        }
    }
    for case in before_edge {
        if let Some(other) = current_edge.iter().find(|other| other.id == case.id) {
            assert_eq!(case.settings.setup, other.settings.setup, "{}", case.id);
        }
    }
}

#[rstest]
fn cases_trigger_only_stimuli_of_their_rows(#[values(Version::Current, Version::PreSeal)] version: Version) {
    let (spec, cases, _) = catalog(version);
    for case in cases {
        let rows: Vec<&Row> = case.rows.iter().filter_map(|row| spec.row(row)).collect();
        for stimulus in &case.stimuli {
            let scripted = stimulus.name() == "scripted" && rows.iter().any(|row| row.table == Table::Relay);
            let named = rows.iter().any(|row| row.stimuli.contains(stimulus));
            assert!(scripted || named, "{} triggers {stimulus}, which none of its rows names", case.id);
        }
    }
}

#[rstest]
fn case_level_is_at_most_that_of_its_first_row(
    #[values(Version::Current, Version::PreSeal)] version: Version,
) {
    let (spec, cases, _) = catalog(version);
    let weight = |level: &str| ["open", "should", "must"].iter().position(|one| *one == level);
    for case in cases {
        let row = spec.row(&case.rows[0]).unwrap();
        assert!(
            weight(case.level.name()) <= weight(row.level.name()),
            "the level of {} is above that of {}",
            case.id,
            row.id
        );
        if row.level == Level::Open {
            assert_eq!(case.level.name(), "open", "{} can fail at an open point", case.id);
        }
    }
}

#[rstest]
fn every_conversation_can_fail(#[values(Version::Current, Version::PreSeal)] version: Version) {
    let (_, _, cases) = catalog(version);
    for case in cases {
        let Procedure::Exchange(conversation) = &case.procedure else { continue };
        let exchange = conversation.answer.is_some() || conversation.relay != ExpectedRelay::Any;
        let headers = conversation.readable.is_some() || conversation.content_type.is_some();
        let judges = conversation.rules.iter().any(|rule| !matches!(rule, EdgeRule::Observe(..)));
        let observes = case.level == CaseLevel::Open && !conversation.rules.is_empty();
        assert!(
            exchange || headers || conversation.denied || judges || observes,
            "{} cannot fail, and observes nothing",
            case.id
        );
    }
}

#[rstest]
fn refusals_expect_the_code_of_their_row(#[values(Version::Current, Version::PreSeal)] version: Version) {
    let (spec, _, cases) = catalog(version);
    let mut seen = 0;
    for case in cases {
        let Procedure::Exchange(conversation) = &case.procedure else { continue };
        for row in case.rows.iter().filter_map(|row| spec.row(row)) {
            let Fact::Reason { status, code } = &row.fact else { continue };
            let answer = conversation.answer.as_ref().unwrap();
            let body = answer.body.as_ref().unwrap();
            assert_eq!(
                (answer.status, body["reason"].as_str()),
                (*status, Some(code.as_str())),
                "{}",
                case.id
            );
            assert_eq!(body["status"], *status, "{}", case.id);
            seen += 1;
        }
    }
    assert!(seen >= spec.table(Table::Relay).count());
}

#[rstest]
fn sanity_cases_are_first_and_last(#[values(Version::Current, Version::PreSeal)] version: Version) {
    let (_, cases, _) = catalog(version);
    let in_phase = |phase| -> Vec<&str> {
        cases.iter().filter(|case| case.phase == phase).map(|case| case.id.as_str()).collect()
    };
    assert_eq!(in_phase(Phase::First), ["sanity.first", "verdict.sanity.first", "keys.sanity.first"]);
    assert_eq!(in_phase(Phase::Last), ["sanity.last", "verdict.sanity.last", "keys.sanity.last"]);
}

/// Words of lower-case letters, digits and dashes, joined by dots. The first word starts with a letter.
fn is_slug(id: &str) -> bool {
    let word = |word: &str| {
        let edges = word.chars().next().zip(word.chars().last());
        edges.is_some_and(|(first, last)| first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric())
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    id.starts_with(|c: char| c.is_ascii_lowercase()) && id.contains('.') && id.split('.').all(word)
}

#[rstest]
#[case("refusal.401.bad-signature", true)]
#[case("refusal", false)]
#[case("Refusal.401", false)]
#[case("refusal..401", false)]
#[case("refusal.-401", false)]
#[case("refusal.bad_signature", false)]
#[case("401.refusal", false)]
fn slugs_are_lower_case_words_with_dots(#[case] id: &str, #[case] expected: bool) {
    assert_eq!(is_slug(id), expected);
}
