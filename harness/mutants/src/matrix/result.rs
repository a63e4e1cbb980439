use std::collections::BTreeMap;

use edgeproof_reports::{CaseReport, Mismatch, Outcome};

/// Results of cases, by case id.
pub(crate) type CaseResults = BTreeMap<String, CaseResult>;

/// Outcome, observations and mismatches of a case.
#[derive(Debug, Clone)]
pub(crate) struct CaseResult {
    pub(crate) outcome: Outcome,
    pub(crate) observations: Vec<String>,
    pub(crate) mismatches: Vec<Mismatch>,
}

/// Results of one mutant.
#[derive(Debug, Default)]
pub(crate) struct MutantResult {
    pub(crate) cases: CaseResults,
    /// The run reported the mutant as one finding and skipped the affected cases.
    pub(crate) is_finding: bool,
    /// After a finding: results of the broken row's cases, run all the same.
    pub(crate) despite_finding: CaseResults,
}

/// Results of a run over sockets.
pub(crate) fn case_results(reports: &[CaseReport]) -> impl Iterator<Item = (String, CaseResult)> {
    reports.iter().map(|report| {
        let observations =
            report.observations.iter().map(|seen| format!("{}: {}", seen.point, seen.observed));
        let result = CaseResult {
            outcome: report.outcome,
            observations: observations.collect(),
            mismatches: report.mismatches.clone(),
        };
        (report.id.clone(), result)
    })
}
