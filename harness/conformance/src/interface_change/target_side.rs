use std::sync::Arc;

use edgeproof_fixtures::spec::{Row, Spec};
use edgeproof_reports::{CaseReport, Outcome};
use edgeproof_targets::Target;
use serde::Serialize;

use super::part_play::{PartPlay, PlayError};
use super::row_change::RowChange;

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

/// On which side of each change a target is.
pub(super) struct TargetSides {
    /// The side of each change, in the order of the changes.
    pub sides: Vec<TargetSide>,
    /// The cases that could not run.
    pub not_run: Vec<CaseReport>,
}

impl TargetSides {
    /// Tries a target with each change alone. A target that one version cannot use (it lacks a setting, or serves
    /// another path) is tried from the other version. Fails if neither can use it.
    pub(super) async fn of(
        play: &PartPlay,
        old: &Arc<Spec>,
        new: &Arc<Spec>,
        target: &Target,
        changes: &[RowChange],
    ) -> Result<Self, PlayError> {
        let why = match Tried::of(play, old, new, target, changes).await {
            Err(PlayError::Target(why)) => why,
            tried => return Ok(tried?.sides(TargetSide::of)),
        };
        let back: Vec<RowChange> = changes.iter().map(RowChange::reversed).collect();
        match Tried::of(play, new, old, target, &back).await {
            Err(PlayError::Target(_)) => Err(PlayError::Target(why)),
            tried => Ok(tried?.sides(|from, to| TargetSide::of(to, from))),
        }
    }
}

/// What the cases of two versions say about a target.
struct Tried {
    /// For each change: the verdict of the version where it starts, and of this version with the change.
    verdicts: Vec<(Option<Verdict>, Option<Verdict>)>,
    not_run: Vec<CaseReport>,
}

impl Tried {
    /// Tries a target in the version `from`, and there with each change to the version `to`.
    async fn of(
        play: &PartPlay,
        from: &Arc<Spec>,
        to: &Arc<Spec>,
        target: &Target,
        changes: &[RowChange],
    ) -> Result<Self, PlayError> {
        let id = |row: &Option<Row>| row.as_ref().map(|row| row.id.clone());
        let rows: Vec<String> = changes.iter().filter_map(|change| id(&change.old)).collect();
        let before = play.play_target(from, target, &rows).await?;
        let (mut verdicts, mut not_run) = (Vec::new(), Vec::new());
        let (mut is_judged, mut unusable) = (!before.is_empty(), None);
        for change in changes {
            let verdict_before = id(&change.old).and_then(|row| Verdict::of(&before, &row));
            let Some(row) = id(&change.new) else {
                verdicts.push((verdict_before, None));
                continue;
            };
            let asks = Arc::new(change.alone(from, to).with_counterparts_of(to));
            match play.play_target(&asks, target, std::slice::from_ref(&row)).await {
                // Whatever the cases say: the target starts and answers in the other version only.
                Err(PlayError::Target(why)) => {
                    unusable = Some(why);
                    verdicts.push((Some(Verdict::Passed), Some(Verdict::Failed)));
                }
                played => {
                    let played = played?;
                    is_judged |= !played.is_empty();
                    verdicts.push((verdict_before, Verdict::of(&played, &row)));
                    not_run.extend(played);
                }
            }
        }
        if let Some(why) = unusable.filter(|_| !is_judged) {
            return Err(PlayError::Target(why));
        }
        not_run.extend(before);
        not_run.retain(|case| case.outcome == Outcome::NotRun);
        Ok(Self { verdicts, not_run })
    }

    fn sides(self, of: impl Fn(Option<Verdict>, Option<Verdict>) -> TargetSide) -> TargetSides {
        let sides = self.verdicts.into_iter().map(|(from, to)| of(from, to)).collect();
        TargetSides { sides, not_run: self.not_run }
    }
}

/// What the cases of a row say in one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    Failed,
}

impl Verdict {
    /// The verdict of the cases that prove a row. None: none was judged. A target whose cases only warn does otherwise than
    /// the row says.
    pub(super) fn of(cases: &[CaseReport], row: &str) -> Option<Self> {
        let ends = |outcome: Outcome| {
            let mut of_row = cases.iter().filter(|case| case.rows.iter().any(|id| id == row));
            of_row.any(|case| case.outcome == outcome)
        };
        match (ends(Outcome::Fail), ends(Outcome::Pass), ends(Outcome::Warn)) {
            (true, ..) | (_, false, true) => Some(Self::Failed),
            (_, true, _) => Some(Self::Passed),
            _ => None,
        }
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
