use edgeproof_fixtures::spec::SettingChange;
use edgeproof_mock::Script;
use edgeproof_reports::CaseLevel;

use crate::judge::ExpectedAnswer;

/// What the cases need from the tables.
#[derive(Clone)]
pub(super) struct Play {
    /// The changed setting.
    pub(super) change: SettingChange,
    /// Severity of a mismatch. Open: observed.
    pub(super) level: CaseLevel,
    /// The service's reply.
    pub(super) accept: Script,
    /// The edge's answer to it.
    pub(super) accepted: ExpectedAnswer,
    /// The edge's answer without its service.
    pub(super) unreachable: ExpectedAnswer,
}
