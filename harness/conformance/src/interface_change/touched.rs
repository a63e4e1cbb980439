use std::collections::BTreeSet;
use std::sync::Arc;

use edgeproof_fixtures::spec::Spec;
use serde::Serialize;

use super::comparison::RowComparison;
use crate::cases::AnyCase;
use crate::snapshot::Snapshot;

/// What a change touches besides the parts.
#[derive(Debug, Default, Serialize)]
pub struct Touched {
    /// Cases of either version that prove a changed row.
    pub cases: BTreeSet<String>,
    /// Files of a snapshot with another text. Empty if nothing was played.
    pub snapshots: Vec<String>,
    /// Why a version has no snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_snapshot: Option<String>,
}

impl Touched {
    /// The cases of the changed rows.
    pub(super) fn of(changes: &[RowComparison], old: &[Box<dyn AnyCase>], new: &[Box<dyn AnyCase>]) -> Self {
        let rows: BTreeSet<&String> =
            changes.iter().flat_map(|change| std::iter::once(&change.row).chain(&change.old_row)).collect();
        let cases = old.iter().chain(new).map(|case| case.facts());
        let touched = cases.filter(|case| case.rows.iter().any(|row| rows.contains(row)));
        Self { cases: touched.map(|case| case.id.clone()).collect(), ..Self::default() }
    }

    /// Plays the snapshots of both versions and compares them.
    pub(super) async fn play_snapshots(&mut self, old: &Arc<Spec>, new: &Arc<Spec>) {
        match (Snapshot::play(old).await, Snapshot::play(new).await) {
            (Ok(old), Ok(new)) => self.snapshots = differing(&old, &new),
            // The rows are compared all the same.
            (Err(why), _) | (_, Err(why)) => self.no_snapshot = Some(why.to_string()),
        }
    }
}

fn differing(old: &Snapshot, new: &Snapshot) -> Vec<String> {
    let (old, new) = (old.files(), new.files());
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    names.into_iter().filter(|name| old.get(*name) != new.get(*name)).cloned().collect()
}
