//! The built-in mock conforms, and the cases cover every row of its tables.

use std::collections::BTreeSet;

use edgeproof_fixtures::spec::{Spec, Table, Version};
use rstest::rstest;

use super::program::conformance;
use crate::conformance::is_of_profile;

#[rstest]
#[case::service("service", Table::Verdict)]
#[case::keys("keys", Table::Keys)]
fn mock_conforms_and_every_row_is_covered(
    #[case] target: &str,
    #[case] table: Table,
    #[values(Version::Current, Version::PreSeal)] version: Version,
) {
    let run = conformance(&[target, "--strict", "--spec", &version.to_string()], None);
    assert_eq!(run.exit, 0, "{}{}", run.out, run.err);
    let summary = &run.report["summary"];
    let all = summary["pass"].as_u64().unwrap() + summary["observed"].as_u64().unwrap();
    let missing = run.ended("not-applicable");
    assert_eq!(summary["planned"].as_u64(), Some(all + missing.len() as u64), "{summary}");
    // The plain listener of pre-seal has no HTTP/2.
    assert!(missing.iter().all(|id| id == "vary.verdict.http2"), "{missing:?}");
    assert_eq!(run.report["target"]["kind"], "embedded");
    let cases = run.report["cases"].as_array().unwrap().iter();
    let rows: BTreeSet<&str> =
        cases.flat_map(|case| case["rows"].as_array().unwrap()).map(|row| row.as_str().unwrap()).collect();
    for seen in run.report["observations"].as_array().unwrap() {
        assert!(is_of_profile(seen["point"].as_str().unwrap(), seen["saw"].as_str().unwrap()), "{seen}");
    }
    let spec = Spec::builtin(version);
    let missing: Vec<_> = spec.table(table).filter(|row| !rows.contains(row.id.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[rstest]
#[case::service("service")]
#[case::keys("keys")]
fn recorded_points_can_be_pinned_with_shuffle_and_repeat(#[case] target: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("points.json");
    let path = path.to_str().unwrap();
    assert_eq!(conformance(&[target, "--record", path], None).exit, 0);
    let run = conformance(
        &[target, "--pin", path, "--shuffle", "--repeat", "2", "--exclude", "*.sanity.first"],
        None,
    );
    assert_eq!(run.exit, 0, "{}", run.out);
    let recorded = std::fs::read_to_string(path).unwrap();
    let (point, other) = if target == "service" {
        ("verdict.reason-member", recorded.replace("\"saw\": \"error\"", "\"saw\": \"reason\""))
    } else {
        ("keys.cache.lifetime", recorded.replace("max-age=300", "max-age=299"))
    };
    assert_ne!(other, recorded);
    std::fs::write(path, other).unwrap();
    let run = conformance(&[target, "--pin", path, "--filter", point], None);
    assert_eq!(run.exit, 1, "{}", run.out);
    assert!(run.mismatches(point).contains("pinned point"));
}

#[test]
fn stale_baseline_line_exits_1() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("known");
    std::fs::write(&path, "verdict.damaged.* known for years\n").unwrap();
    let run = conformance(
        &["service", "--baseline", path.to_str().unwrap(), "--filter", "verdict.damaged.*"],
        None,
    );
    assert_eq!(run.exit, 1);
    assert!(run.report["findings"][0].as_str().unwrap().contains("stale baseline line"));
}
