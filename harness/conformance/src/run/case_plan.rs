use std::sync::Arc;

use super::selection::{Selection, SelectionError};
use crate::cases::Case;

/// The cases of a run, in order.
#[derive(Debug, Default)]
pub struct CasePlan {
    /// The selected cases.
    pub cases: Vec<PlannedCase>,
    /// Ids of all cases of the target, selected or not.
    pub all_ids: Vec<String>,
}

/// A selected case.
#[derive(Debug)]
pub struct PlannedCase {
    /// The case.
    pub case: Arc<Case>,
    /// Why the case does not apply to this target, if it does not.
    pub not_applicable: Option<String>,
}

/// Decides which cases apply to a target.
pub trait Applicability {
    /// Name of the target on the command line: `edge`, `service` or `keys`.
    fn target(&self) -> &'static str;

    /// Why a case does not apply, with the option that would change this; `None` if it applies.
    fn not_applicable(&self, case: &Case) -> Option<String>;
}

impl CasePlan {
    /// Plans the selected cases: the first phase first, otherwise in the given order.
    pub fn new(
        cases: Vec<Case>,
        selection: &Selection,
        applicability: &impl Applicability,
    ) -> Result<Self, SelectionError> {
        let all_ids: Vec<String> = cases.iter().map(|case| case.id.clone()).collect();
        let selected = selection.compile(&all_ids, applicability.target())?;
        let mut planned: Vec<_> = cases
            .into_iter()
            .filter(|case| selected.contains(&case.id))
            .map(|case| PlannedCase {
                not_applicable: applicability.not_applicable(&case),
                case: Arc::new(case),
            })
            .collect();
        if planned.is_empty() {
            return Err(SelectionError::Nothing);
        }
        planned.sort_by_key(|planned| planned.case.phase);
        Ok(Self { cases: planned, all_ids })
    }

    /// Whether every case of the target is selected.
    pub(super) fn is_complete(&self) -> bool {
        self.cases.len() == self.all_ids.len()
    }
}
