use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use edgeproof_fixtures::spec::{Level, Spec, Version};
use edgeproof_mutants::{Behaviour, Deviation, Deviations, How, ServiceBehaviour, Side, World};
use edgeproof_reports::Outcome;

use crate::support::{wait_for, world};

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

/// One new row is all it takes: it gets its deviations and the cases that kill them.
#[test]
fn a_new_row_gets_its_deviations_and_they_are_killed() {
    let world = with_tables("relay.toml", |text| text + NEW);
    let cases = world.cases(Side::Edge);
    let mut killed = 0;
    for deviation in Deviations::of(&world.pure.spec).all {
        let How::AtRow(at) = &deviation.how else { continue };
        if at.row.id != "relay.418.short-and-stout" {
            continue;
        }
        let own = cases.iter().filter(|case| case.rows.contains(&deviation.row));
        let mut plays = own.filter_map(|case| world.pure.play(case, at.as_ref(), true));
        assert!(plays.any(|played| kills(&deviation, played.outcome)), "{} survives", deviation.id);
        killed += 1;
    }
    assert!(killed > 15, "only {killed} deviations");
}

/// The same at the verdict endpoint: here a cause of a row gets a code of its own.
#[test]
fn a_new_row_of_verdicts_gets_its_deviations_and_they_are_killed() {
    let world = with_tables("verdict.toml", |text| text.replace(OLD_VERDICT, NEW_VERDICT));
    let mut killed = 0;
    for deviation in Deviations::of(&world.pure.spec).all {
        let How::AtServiceRow(at) = &deviation.how else { continue };
        if at.row.id != "verdict.401.license-revoked" {
            continue;
        }
        let mut own = world.cases(Side::Service);
        own.retain(|case| case.rows.contains(&deviation.row));
        let ran = wait_for(world.play(Side::Service, &own, Some(&deviation.faults()))).unwrap();
        let killer = ran.reports.iter().find(|report| kills(&deviation, report.outcome));
        assert!(killer.is_some(), "{} survives", deviation.id);
        killed += 1;
    }
    assert!(killed > 5, "only {killed} deviations");
}

fn kills(deviation: &Deviation, outcome: Outcome) -> bool {
    outcome == Outcome::Fail || (deviation.level == Level::Should && outcome == Outcome::Warn)
}

/// A world whose tables are the built-in ones, but for one file.
fn with_tables(file: &str, change: impl Fn(String) -> String) -> World {
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
    World::new(Arc::new(Spec::load(folder.path(), Version::Current).unwrap())).unwrap()
}

#[test]
fn ids_are_unique_and_rows_exist() {
    let world = world();
    let Deviations { all, equivalent, without_sample } = Deviations::of(&world.pure.spec);
    assert_eq!(without_sample, Vec::<String>::new());
    let ids: BTreeSet<&str> = all.iter().chain(&equivalent).map(|deviation| deviation.id.as_str()).collect();
    assert_eq!(ids.len(), all.len() + equivalent.len());
    for deviation in all.iter().chain(&equivalent) {
        assert!(world.pure.spec.row(&deviation.row).is_some(), "{} breaks {}", deviation.id, deviation.row);
    }
    let rows = Behaviour::ALL.iter().map(|behaviour| behaviour.row());
    for row in rows.chain(ServiceBehaviour::ALL.iter().map(|behaviour| behaviour.row())) {
        assert!(world.pure.spec.row(row).is_some(), "a behaviour breaks {row}");
    }
}
