//! Messages on both hops for every row: what page, edge, service and backend send. A snapshot shows the effect of a changed
//! table.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use edgeproof::snapshot::{Snapshot, SnapshotFolder};
use edgeproof_fixtures::spec::{Spec, Table, Version};
use rstest::rstest;

/// `fixtures/snapshots` has what the command `spec snapshot` writes, for each version.
#[rstest]
#[case::current(Version::Current)]
#[case::pre_seal(Version::PreSeal)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wire_answers_are_those_of_the_committed_snapshot(#[case] version: Version) {
    let spec = Arc::new(Spec::builtin(version));
    let snapshot = Snapshot::play(&spec).await.unwrap();
    shows_every_stimulus(&spec, &snapshot);

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/snapshots");
    let folder = SnapshotFolder::open(&root.join(version.name())).unwrap();
    let mut text = String::new();
    for difference in folder.differences(&snapshot) {
        _ = writeln!(text, "{difference}");
    }
    assert!(text.is_empty(), "{text}`just wire` writes the snapshots again: read the diff");
}

/// Each row of an endpoint that answers has a file with its status and its code, and with each stimulus or its case.
fn shows_every_stimulus(spec: &Spec, snapshot: &Snapshot) {
    for row in spec.rows() {
        let answers = match row.table {
            Table::Edge | Table::Relay | Table::Verdict => row.excluded.is_none() && !row.stimuli.is_empty(),
            Table::Keys => row.status().is_some(),
            _ => false,
        };
        let text = snapshot.files().get(&format!("{}.http", row.id)).map(String::as_str);
        assert_eq!(text.is_some(), answers, "{}", row.id);
        let Some(text) = text else { continue };
        for shown in [row.status().map(|status| status.to_string()), row.code().map(str::to_owned)] {
            assert!(text.contains(&shown.unwrap_or_default()), "{}:\n{text}", row.id);
        }
        let scenes = text.lines().filter(|line| line.contains(": ") && !line.starts_with([' ', '#'])).count();
        assert_eq!(scenes, row.stimuli.len(), "{}:\n{text}", row.id);
    }
}
