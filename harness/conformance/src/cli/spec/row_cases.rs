use std::collections::BTreeMap;

use edgeproof_fixtures::spec::Spec;
use edgeproof_mock::ReplyShape;
use edgeproof_reports::ReleaseVersion;

use crate::cases::{self, CaseFacts, Catalog};

/// The cases of each row.
pub(in crate::cli) struct RowCases(BTreeMap<String, Proofs>);

/// The cases of a row.
#[derive(Default)]
struct Proofs {
    ids: Vec<String>,
    /// Version that added the first one.
    since: Option<ReleaseVersion>,
}

impl RowCases {
    /// The cases that a run without further options has.
    pub(in crate::cli) fn of(spec: &Spec) -> Self {
        let shape = ReplyShape::from_profile(spec.profile());
        let mut by_row: BTreeMap<String, Proofs> = BTreeMap::new();
        for case in cases::all(Catalog::new(spec, &shape, false)) {
            let CaseFacts { id, rows, since, .. } = case.facts();
            for row in rows {
                let proofs = by_row.entry(row.clone()).or_default();
                proofs.ids.push(id.clone());
                proofs.since = proofs.since.into_iter().chain(*since).min();
            }
        }
        Self(by_row)
    }

    /// Ids of the cases of a row.
    pub(in crate::cli) fn get(&self, row: &str) -> &[String] {
        self.0.get(row).map_or(&[], |proofs| &proofs.ids)
    }

    /// Version of edgeproof that added the first case of a row.
    pub(in crate::cli) fn since(&self, row: &str) -> Option<ReleaseVersion> {
        self.0.get(row).and_then(|proofs| proofs.since)
    }
}
