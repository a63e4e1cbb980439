//! Names that code and tables both hold are the same in both.

use std::collections::BTreeSet;

use edgeproof::cases::{HEALTH, Procedure, SIGNALS, VerdictRequest, collection, key_set_request};
use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::{Fact, Spec, Table, Version};
use rstest::rstest;

use crate::catalog;

#[rstest]
fn settings_of_the_edge_are_those_of_the_table(
    #[values(Version::Current, Version::PreSeal)] version: Version,
) {
    let (spec, _) = catalog(version);
    let table: BTreeSet<&str> = spec
        .table(Table::Settings)
        .filter_map(|row| match &row.fact {
            Fact::Setting { name, party, .. } if party == "edge" => Some(name.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(table, BTreeSet::from(EdgeSettings::NAMES));
}

#[rstest]
fn collections_go_to_the_endpoint_of_the_table(
    #[values(Version::Current, Version::PreSeal)] version: Version,
) {
    let (spec, cases) = catalog(version);
    let (methods, path) = endpoint(spec, "endpoint.edge.signals");
    let draft = collection();
    assert_eq!((draft.path.as_str(), SIGNALS), (path, path));
    assert_eq!(draft.method, "POST");
    assert!(methods.contains(&draft.method));
    for case in cases {
        let Procedure::Conversation(conversation) = &case.procedure else { continue };
        let below = conversation.draft.path.split('?').next();
        assert_eq!(below, Some(path), "{}", case.id);
        let other = !methods.contains(&conversation.draft.method);
        let refused = conversation.answer.as_ref().is_some_and(|answer| answer.status == 405);
        assert_eq!(other, refused, "{}: the methods of the endpoint and those that are refused", case.id);
    }
}

#[rstest]
fn health_is_asked_for_at_the_endpoint_of_the_table(
    #[values(Version::Current, Version::PreSeal)] version: Version,
) {
    let (spec, _) = catalog(version);
    let (methods, path) = endpoint(spec, "endpoint.edge.health");
    assert_eq!((methods, path), (&["GET".to_owned()][..], HEALTH));
}

#[rstest]
fn verdicts_and_keys_are_asked_for_at_the_endpoints_of_the_table(
    #[values(Version::Current, Version::PreSeal)] version: Version,
) {
    let (spec, _) = catalog(version);
    let get = &["GET".to_owned()][..];
    let (methods, path) = endpoint(spec, "endpoint.service.verdict");
    assert_eq!((methods, path.replace("{sessionRef}", "a")), (get, VerdictRequest::new("a").draft().path));
    let (methods, path) = endpoint(spec, "endpoint.keys.jwks");
    assert_eq!((methods, path), (get, key_set_request().path.as_str()));
}

fn endpoint<'s>(spec: &'s Spec, id: &str) -> (&'s [String], &'s str) {
    match &spec.row(id).unwrap().fact {
        Fact::Endpoint { methods, path, .. } => (methods, path),
        other => panic!("{id} is no endpoint: {other:?}"),
    }
}
