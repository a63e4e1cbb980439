//! Each open point that a case observes is in the reference profile, and each point there is observed or says why not.

use std::collections::BTreeSet;

use edgeproof::cases::{self as all, Catalog};
use edgeproof_fixtures::spec::{OpenPoint, Spec, Version};
use edgeproof_mock::ReplyShape;
use rstest::rstest;

/// What the interface does not show: its section, and the points about it.
const NOT_SHOWN: [(&str, &[&str]); 17] = [
    ("1.7", &["collection.measurements"]),
    ("1.7", &["verdict.scoring"]),
    ("2", &["collection.form"]),
    ("2", &["verdict.form"]),
    ("3", &["session.transitions"]),
    ("4", &["preflight.status", "preflight.methods", "preflight.headers", "preflight.max-age-seconds"]),
    ("4", &["health.status", "health.body"]),
    ("4", &["relay.path"]),
    ("4", &["verdict.wait", "verdict.wait-max-ms"]),
    ("5", &["keys.credential"]),
    ("5", &["relay.license-header", "relay.license-scheme"]),
    ("6", &["events.sent"]),
    ("7.4", &["verdict.refused", "verdict.reason-member"]),
    ("8", &["collection.max-bytes"]),
    ("8", &["replay.window-seconds"]),
    ("8", &["rate.limit"]),
    ("9.4", &["version.negotiation"]),
];

#[rstest]
fn observed_points_are_those_of_the_profile(
    #[values(Version::Current, Version::PreSeal)] version: Version,
    #[values(false, true)] waits: bool,
) {
    let spec = Spec::builtin(version);
    let observed = observed(&spec, waits);
    for (part, id) in &observed {
        let point = spec.profile().point(id);
        let point = point.unwrap_or_else(|| panic!("profile.toml has no point {id}"));
        assert!(point.observed_ids().contains(id), "{}: add the name of {id}", point.id);
        let names_part = point.parts.iter().any(|known| known.name() == *part);
        assert!(names_part, "{}: add the part {part}", point.id);
    }
    // Some rows, and so their cases, are of the current version only.
    if version == Version::Current {
        let seen = |id: &String| observed.iter().any(|(_, observed)| observed == id);
        let points = spec.profile().points();
        let unseen: Vec<String> = points.flat_map(OpenPoint::observed_ids).filter(|id| !seen(id)).collect();
        assert_eq!(unseen, [""; 0], "no case observes these points: say why in `unseen`");
    }
}

#[test]
fn each_point_names_its_parts() {
    for point in Spec::builtin(Version::Current).profile().points() {
        assert!(!point.parts.is_empty(), "{}", point.id);
        assert!(point.unseen.is_none() || point.names.is_empty(), "{}", point.id);
    }
}

#[test]
fn what_the_interface_does_not_show_is_a_point() {
    let spec = Spec::builtin(Version::Current);
    for (section, ids) in NOT_SHOWN {
        for id in ids {
            let point = spec.profile().point(id).unwrap_or_else(|| panic!("{id}"));
            assert_eq!(point.section, section, "{id}");
        }
    }
}

/// The observed points, each with its part.
fn observed(spec: &Spec, waits: bool) -> BTreeSet<(&'static str, String)> {
    let shape = ReplyShape::from_profile(spec.profile());
    let cases = all::all(Catalog::new(spec, &shape, waits).explore(true));
    let points = cases.iter().flat_map(|case| {
        case.facts().points.iter().map(|point| (case.part(), point.clone())).collect::<Vec<_>>()
    });
    points.collect()
}
