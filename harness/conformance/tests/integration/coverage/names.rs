//! Names and paths in the code equal those in the tables.

use std::collections::BTreeSet;

use edgeproof::cases::{Procedure, SIGNALS, VerdictRequest, collection, fill};
use edgeproof_fixtures::credentials::EdgeSettings;
use edgeproof_fixtures::spec::{Endpoint, Fact, Spec, Table, Version};
use rstest::rstest;

use super::catalog;

#[rstest]
fn edge_settings_equal_the_table(#[values(Version::Current, Version::PreSeal)] version: Version) {
    let (spec, ..) = catalog(version);
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
fn conversations_go_to_the_endpoint_for_collections(
    #[values(Version::Current, Version::PreSeal)] version: Version,
) {
    let (spec, _, cases) = catalog(version);
    let (methods, path) = endpoint(spec, Endpoint::Signals);
    let draft = fill(&collection(), spec, "", "");
    assert_eq!((draft.method.as_str(), draft.path.as_str()), ("POST", path));
    assert!(methods.contains(&draft.method));
    for case in cases {
        let Procedure::Exchange(conversation) = &case.procedure else { continue };
        let is_elsewhere = case.id.starts_with("paths.") || case.id.contains("health");
        assert!(is_elsewhere || conversation.draft.path == SIGNALS, "{}", case.id);
        let Some(answer) = &conversation.answer else { continue };
        let allowed = methods.contains(&conversation.draft.method);
        assert_eq!(allowed, answer.status != 405, "{}: only other methods are refused with 405", case.id);
    }
}

#[rstest]
fn get_endpoints_have_the_method_get(
    #[values(Endpoint::Health, Endpoint::Verdict, Endpoint::KeySet)] requested: Endpoint,
    #[values(Version::Current, Version::PreSeal)] version: Version,
) {
    let (spec, ..) = catalog(version);
    let (methods, path) = endpoint(spec, requested);
    assert_eq!((methods, path), (&["GET".to_owned()][..], spec.path(requested)));
}

#[test]
fn requests_have_the_paths_of_the_table() {
    let spec = Spec::current();
    let path = spec.verdict_path();
    assert_eq!(VerdictRequest::new(path, "a b").draft().path, path.with("a%20b"));
}

fn endpoint(spec: &Spec, endpoint: Endpoint) -> (&[String], &str) {
    match &spec.row(endpoint.row()).unwrap().fact {
        Fact::Endpoint { methods, path, .. } => (methods, path),
        other => panic!("{} is not an endpoint: {other:?}", endpoint.row()),
    }
}
