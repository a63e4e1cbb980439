use edgeproof_http::Sent;
use edgeproof_mock::Arrival;
use edgeproof_reports::{Hop, Level};

use crate::judge::Check;

/// What a case found.
#[derive(Debug, Default)]
pub struct CaseFindings {
    /// Everything that was looked at.
    pub checks: Vec<Check>,
    /// Open points, as `(point, observed)`.
    pub observations: Vec<(String, String)>,
    /// What we sent.
    pub sent: Vec<CaseExchange>,
    /// What the service got.
    pub arrivals: Vec<Arrival>,
    /// Why the case does not apply to this edge, as it turned out.
    pub not_applicable: Option<String>,
    /// Why it could not be played to its end.
    pub not_run: Option<String>,
}

/// A request that a case sent, with what came of it.
#[derive(Debug, Clone)]
pub struct CaseExchange {
    /// Whom.
    pub hop: Hop,
    /// Request and answer.
    pub sent: Sent,
    /// A `curl` command that sends the same, where there can be one.
    pub curl: Option<String>,
}

impl CaseFindings {
    /// Adds a check. One that weighs `must` weighs no more than its case.
    pub fn check(&mut self, mut check: Check, case: Level) {
        check.level = check.level.max(case);
        self.checks.push(check);
    }
}
