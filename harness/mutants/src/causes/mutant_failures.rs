use std::collections::BTreeSet;

use edgeproof::causes::{Failures, Fingerprint, Fingerprints, symptoms};
use edgeproof_reports::Outcome;

use crate::matrix::CaseResults;

/// The cases that a mutant fails in a run.
#[derive(Debug, Clone)]
pub struct MutantFailures {
    /// Id of the mutant.
    pub mutant: String,
    /// Id of its cause.
    pub cause: String,
    /// Failed cases, and how each fails.
    pub failures: Failures,
    /// Ids of the cases with a result.
    pub ran: BTreeSet<String>,
}

impl MutantFailures {
    /// Reads them from the results of a run.
    pub(crate) fn new(mutant: &str, cause: &str, results: &CaseResults) -> Self {
        let failed =
            results.iter().filter(|(_, result)| matches!(result.outcome, Outcome::Fail | Outcome::Warn));
        let ran = results.iter().filter(|(_, result)| result.outcome != Outcome::NotRun);
        Self {
            mutant: mutant.to_owned(),
            cause: cause.to_owned(),
            failures: failed.map(|(case, result)| (case.clone(), symptoms(&result.mismatches))).collect(),
            ran: ran.map(|(case, _)| case.clone()).collect(),
        }
    }
}

/// The fingerprints of mutants. A mutant without a failed case has none.
pub(crate) fn fingerprints(all: &[MutantFailures]) -> Fingerprints {
    let failing = all.iter().filter(|one| !one.failures.is_empty());
    Fingerprints::new(failing.map(|one| Fingerprint {
        cause: one.cause.clone(),
        mutants: 1,
        cases: one.failures.clone(),
    }))
}
