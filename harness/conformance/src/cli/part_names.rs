use std::collections::{BTreeMap, BTreeSet};

use edgeproof_fixtures::spec::Spec;
use edgeproof_reports::Report;

use super::explain::all_cases;

/// The part of each case, by its id.
pub(super) struct PartNames(BTreeMap<String, &'static str>);

impl PartNames {
    /// The cases of an interface.
    pub(super) fn of(spec: &Spec) -> Self {
        Self(all_cases(spec).iter().map(|case| (case.facts().id.clone(), case.part())).collect())
    }

    /// The part that a report is about. An earlier edgeproof can have cases that are unknown here.
    pub(super) fn of_report(&self, report: &Report) -> String {
        let parts: BTreeSet<&str> =
            report.cases.iter().filter_map(|case| self.0.get(&case.id).copied()).collect();
        if parts.is_empty() {
            return "unknown".to_owned();
        }
        parts.into_iter().collect::<Vec<_>>().join(", ")
    }
}
