use edgeproof_fixtures::spec::Spec;
use edgeproof_reports::{CaseReport, Outcome, Report};

use super::finding::Finding;

/// A setting of the edge, and the cases that show whether the edge uses it.
pub(super) struct SettingCheck {
    about: &'static str,
    /// Ids of the cases.
    cases: &'static [&'static str],
    /// What is proven if they pass.
    proven: &'static str,
}

/// The settings, in the order of the output.
const CHECKS: [SettingCheck; 5] = [
    SettingCheck {
        about: "SERVICE_URL",
        cases: &["accept.exact-body"],
        proven: "a collection reaches the mock service, and its answer comes back",
    },
    SettingCheck {
        about: "SERVICE_CA_FILE",
        cases: &["unreachable.foreign-authority"],
        proven: "the edge trusts this CA, and no other one",
    },
    SettingCheck {
        about: "LICENSE",
        cases: &["credentials.license", "credentials.license-other"],
        proven: "it arrives at the service unchanged",
    },
    SettingCheck {
        about: "EDGE_CLIENT_CERT_FILE",
        cases: &["credentials.certificate", "credentials.certificate-other"],
        proven: "the edge presents the client certificate",
    },
    SettingCheck {
        about: "ALLOWED_ORIGIN",
        cases: &["cors.preflight", "cors.origin-setting"],
        proven: "pages of this origin can read the answers",
    },
];

/// Ids of all cases.
pub(super) fn cases() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().flat_map(|check| check.cases).copied()
}

/// What a run of the cases shows.
pub(super) fn findings(spec: &Spec, report: &Report) -> Vec<Finding> {
    let has_run = |case: &CaseReport| !matches!(case.outcome, Outcome::NotRun | Outcome::NotApplicable);
    if let Some(why) = report.findings.first().filter(|_| !report.cases.iter().any(has_run)) {
        // The edge cannot be judged: one finding, not one for each setting.
        return vec![Finding::problem("service", why, "")];
    }
    CHECKS.iter().filter_map(|check| check.finding(spec, report)).collect()
}

impl SettingCheck {
    /// None: the interface has no such case.
    fn finding(&self, spec: &Spec, report: &Report) -> Option<Finding> {
        let about = spec.variable(self.about);
        let cases: Vec<&CaseReport> =
            self.cases.iter().filter_map(|id| report.cases.iter().find(|case| case.id == *id)).collect();
        let with = |outcome: Outcome| cases.iter().find(|case| case.outcome == outcome);
        if let Some(case) = with(Outcome::Fail).or(with(Outcome::Warn)) {
            return Some(Finding::problem(about, &case.because, fix(report, case)));
        }
        if let Some(case) = with(Outcome::NotRun) {
            let advice = format!("see `edgeproof conformance --filter {}`", case.id);
            return Some(Finding::problem(about, format!("not checked: {}", case.because), advice));
        }
        if with(Outcome::Pass).is_some() {
            return Some(Finding::ok(about, self.proven));
        }
        let case = cases.first()?;
        Some(Finding::note(about, format!("not checked: {}", case.because), ""))
    }
}

/// What to do about a failed case.
fn fix(report: &Report, case: &CaseReport) -> String {
    if let Some(cause) = report.causes.iter().find(|cause| cause.cases.contains(&case.id)) {
        return cause.fix.clone();
    }
    let hint = case.mismatches.iter().find_map(|mismatch| mismatch.hint.clone());
    hint.unwrap_or_else(|| format!("see `edgeproof explain {}`", case.id))
}
