use edgeproof_reports::load::{LoadReport, LoadState, count};

use crate::engine::RunData;

/// Why a run is only a part of the planned one.
pub(super) fn partial_reasons(ended: Vec<String>, gone: Option<String>, data: &RunData) -> Vec<String> {
    let interrupted = data.interrupted.map(|signal| format!("{signal} ended the run early"));
    let reasons = if ended.is_empty() {
        gone.into_iter().collect()
    } else {
        // A dead edge says more than that nothing answers.
        let with_gone = |why| match &gone {
            Some(gone) => format!("{why}: {gone}"),
            None => why,
        };
        ended.into_iter().map(with_gone).collect::<Vec<_>>()
    };
    reasons.into_iter().chain(interrupted).collect()
}

/// Sets the state of a report, and adds the findings that explain it.
pub(super) fn conclude(
    report: &mut LoadReport,
    imbalance: Vec<String>,
    invalid: Vec<String>,
    partial: Vec<String>,
    unchecked: bool,
) {
    report.state = match (imbalance.is_empty(), invalid.is_empty()) {
        (false, _) => LoadState::Invalid,
        (true, false) if !unchecked => LoadState::Invalid,
        _ if !partial.is_empty() => LoadState::Partial,
        _ if unchecked => LoadState::Unchecked,
        _ => LoadState::Complete,
    };
    report.findings.extend(imbalance.into_iter().chain(invalid).chain(partial));
}

/// Operations and sessions without a result. If the target died, that explains them.
pub(super) fn without_result(report: &LoadReport, sessions: u64) -> Vec<String> {
    let mut findings = Vec::new();
    let ledger = &report.ledger;
    if ledger.open + ledger.dropped > 0 {
        findings.push(format!(
            "{} operations never started, and {} were still running at the end: they rank above all answered ones",
            count(ledger.dropped),
            count(ledger.open)
        ));
    }
    if ledger.without_verdict > 0 {
        findings.push(format!(
            "{} of {} sessions got no verdict: they rank above all others",
            count(ledger.without_verdict),
            count(sessions)
        ));
    }
    findings
}
