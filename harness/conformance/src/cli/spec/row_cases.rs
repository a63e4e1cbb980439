use std::collections::BTreeMap;

use edgeproof_fixtures::spec::Spec;
use edgeproof_mock::ReplyShape;

use crate::cases::{self, CaseFacts, Catalog};

/// Ids of the cases of each row.
pub(super) struct RowCases(BTreeMap<String, Vec<String>>);

impl RowCases {
    /// The cases that a run without further options has.
    pub(super) fn of(spec: &Spec) -> Self {
        let shape = ReplyShape::from_profile(spec.profile());
        let mut by_row: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for case in cases::all(Catalog::new(spec, &shape, false)) {
            let CaseFacts { id, rows, .. } = case.facts();
            for row in rows {
                by_row.entry(row.clone()).or_default().push(id.clone());
            }
        }
        Self(by_row)
    }

    /// The cases of a row.
    pub(super) fn get(&self, row: &str) -> &[String] {
        self.0.get(row).map_or(&[], Vec::as_slice)
    }
}
