use edgeproof::cases::CaseFindings;
use edgeproof_reports::Outcome;

/// Result of a case without sockets.
#[derive(Debug)]
pub struct PureResult {
    /// Checks and observations.
    pub found: CaseFindings,
    /// Outcome.
    pub outcome: Outcome,
}
