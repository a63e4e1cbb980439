use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use fixtures::spec::{Level, Spec, Version};
use harness::deviations::{Behaviour, Deviations, How, ServiceBehaviour, Side, World};
use reports::Outcome;

use crate::world;

const NEW: &str = r#"
[[row]]
id = "relay.418.short-and-stout"
status = 418
code = "short_and_stout"
condition = "The service is a teapot."
stimuli = ["scripted"]
"#;

/// One new row is all it takes: it gets its deviations and the cases that kill them.
#[test]
fn a_new_row_gets_its_deviations_and_they_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/spec");
    for file in std::fs::read_dir(tables).unwrap().map(Result::unwrap) {
        std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    let relay = folder.path().join("relay.toml");
    let text = std::fs::read_to_string(&relay).unwrap();
    std::fs::write(&relay, text + NEW).unwrap();
    let world = World::new(Arc::new(Spec::load(folder.path(), Version::Current).unwrap())).unwrap();
    let cases = world.cases(Side::Edge);
    let mut killed = 0;
    for deviation in Deviations::of(&world.pure.spec).all {
        let How::AtRow(at) = &deviation.how else { continue };
        if at.row.id != "relay.418.short-and-stout" {
            continue;
        }
        let own = cases.iter().filter(|case| case.rows.contains(&deviation.row));
        let fails = |outcome| {
            outcome == Outcome::Fail || (deviation.level == Level::Should && outcome == Outcome::Warn)
        };
        let mut plays = own.filter_map(|case| world.pure.play(case, at.as_ref(), true));
        assert!(plays.any(|played| fails(played.outcome)), "{} survives", deviation.id);
        killed += 1;
    }
    assert!(killed > 15, "only {killed} deviations");
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
