use edgeproof_fixtures::spec::PointValue;
use edgeproof_reports::difference::{DifferenceKind, Wire};

use super::{CaseFacts, CaseFindings};
use crate::judge::Check;

/// A rule about an open point, which a case judges by what it observes there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointRule {
    /// Id of the row that has the rule.
    pub row: String,
    /// Id of the point.
    pub point: String,
    /// The value that the part has to have there.
    pub value: PointValue,
    /// Upper and lower case are the same.
    pub caseless: bool,
    /// Id of the case that observes the point.
    pub observer: String,
}

impl PointRule {
    /// Replaces the findings of the requests by the judgement of the rule: other cases have those of the requests.
    pub(crate) fn judge(&self, case: &CaseFacts, found: &mut CaseFindings) {
        if found.not_run.is_some() || found.not_applicable.is_some() {
            return;
        }
        let own =
            |point: &str| if point == case.id { self.observer == self.point } else { point == self.point };
        let observed: Vec<String> = found
            .observations
            .drain(..)
            .filter_map(|(point, observed)| own(&point).then_some(observed))
            .collect();
        (found.failed, found.unstated) = (None, false);
        found.checks.clear();
        if observed.is_empty() {
            found.check(self.compare(None, false), case.level);
        }
        for actual in observed {
            let ok = self.value.is_seen_as(&actual, self.caseless);
            found.check(self.compare(Some(&actual), ok), case.level);
        }
    }

    fn compare(&self, actual: Option<&str>, ok: bool) -> Check {
        let kind = DifferenceKind::Pin {
            rule: Some(self.row.clone()),
            point: self.point.clone(),
            expected: vec![Wire::from(self.value.to_string())],
            actual: actual.map(Wire::from),
        };
        Check::judged(kind, ok)
    }
}
