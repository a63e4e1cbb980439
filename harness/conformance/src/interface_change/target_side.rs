use edgeproof_reports::{CaseReport, Outcome};
use serde::Serialize;

/// On which side of a changed row a target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetSide {
    /// It passes the cases of the old version only.
    Old,
    /// It passes the cases of the new version only.
    New,
    /// It passes the cases of both.
    Both,
    /// It passes the cases of neither.
    Neither,
    /// No case of either version could be judged.
    Unknown,
}

impl TargetSide {
    /// Its words in reports.
    pub fn words(self) -> &'static str {
        match self {
            Self::Old => "the target follows the old version",
            Self::New => "the target follows the new version",
            Self::Both => "the target follows both versions",
            Self::Neither => "the target follows neither version",
            Self::Unknown => "no case judges the target",
        }
    }

    /// The side that the reports of both versions' cases show. A version without a judged case does not count.
    pub(super) fn of(old: Option<Verdict>, new: Option<Verdict>) -> Self {
        match (old, new) {
            // A row that one version lacks: the target may do as the row says, or otherwise, in that version.
            (None | Some(Verdict::Passed), None) => Self::Unknown,
            (Some(Verdict::Passed) | None, Some(Verdict::Failed)) => Self::Old,
            // Where the new version says nothing, a target that does not follow the old one does nothing wrong.
            (Some(Verdict::Failed), None) | (Some(Verdict::Failed) | None, Some(Verdict::Passed)) => {
                Self::New
            }
            (Some(Verdict::Passed), Some(Verdict::Passed)) => Self::Both,
            (Some(Verdict::Failed), Some(Verdict::Failed)) => Self::Neither,
        }
    }
}

/// What the cases of a row say in one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    Failed,
}

impl Verdict {
    /// The verdict of the cases that prove a row. None: none was judged.
    pub(super) fn of(cases: &[CaseReport], row: &str) -> Option<Self> {
        let of_row = || cases.iter().filter(|case| case.rows.iter().any(|id| id == row));
        if of_row().any(|case| case.outcome == Outcome::Fail) {
            return Some(Self::Failed);
        }
        of_row().any(|case| matches!(case.outcome, Outcome::Pass | Outcome::Warn)).then_some(Self::Passed)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const PASSED: Option<Verdict> = Some(Verdict::Passed);
    const FAILED: Option<Verdict> = Some(Verdict::Failed);

    #[rstest]
    #[case(PASSED, FAILED, TargetSide::Old)]
    #[case(FAILED, PASSED, TargetSide::New)]
    #[case(PASSED, PASSED, TargetSide::Both)]
    #[case(FAILED, FAILED, TargetSide::Neither)]
    #[case::open_before(None, FAILED, TargetSide::Old)]
    #[case::removed(PASSED, None, TargetSide::Unknown)]
    #[case::removed_and_not_followed(FAILED, None, TargetSide::New)]
    #[case(None, None, TargetSide::Unknown)]
    fn side_follows_both_versions(
        #[case] old: Option<Verdict>,
        #[case] new: Option<Verdict>,
        #[case] side: TargetSide,
    ) {
        assert_eq!(TargetSide::of(old, new), side);
    }
}
