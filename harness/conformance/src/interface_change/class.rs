use edgeproof_fixtures::spec::{Fact, Level, PartName, Spec};
use edgeproof_reports::interface::Class;
use edgeproof_reports::{CaseReport, Outcome};
use serde::Serialize;

use super::row_change::RowChange;

/// The class of a row for one part, with the cases behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartClass {
    /// The part.
    pub part: PartName,
    /// The class.
    pub class: Class,
    /// The row is removed, so the new version has no case of it.
    pub removed: bool,
    /// Why a part was not played. None: it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_played: Option<String>,
    /// What else a reader needs to know of the class.
    #[serde(skip)]
    pub note: Option<String>,
    /// How many of the passed cases warned.
    #[serde(skip)]
    pub warned: usize,
    /// Cases of the new version that the old part passes.
    pub passed: Vec<String>,
    /// Cases of the new version that it fails.
    pub failed: Vec<FailedCase>,
    /// Cases of the old version that a part of the new version fails: what the old counterpart would notice.
    pub noticed: Vec<FailedCase>,
}

/// A failed case: what was expected, what came, and what helps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailedCase {
    /// Id of the case.
    pub case: String,
    /// Its title.
    pub title: String,
    /// What the row requires.
    pub expected: String,
    /// What the part did.
    pub actual: String,
    /// What helps, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl PartClass {
    /// The class that these results give. `forward`: cases of the new version at the old part; `back`: the reverse.
    pub(super) fn of(
        part: PartName,
        change: &RowChange,
        forward: &[CaseReport],
        back: &[CaseReport],
        new: &Spec,
    ) -> Self {
        let failed = failures(forward);
        // An observation proves nothing about a row that is judged.
        let is_open = change.row().is_some_and(|row| row.level == Level::Open);
        // What was open until now is only observed by its own cases, whatever else other cases judge.
        let was_open = change.old.as_ref().is_some_and(|row| row.level == Level::Open);
        let is_rule = change.row().is_some_and(|row| matches!(row.fact, Fact::Rule { .. }));
        let is_own = |case: &CaseReport| case.rows.first().is_some_and(|row| row == change.id());
        let proves = |case: &&CaseReport| match case.outcome {
            Outcome::Pass | Outcome::Warn => is_rule || !was_open || is_open || is_own(case),
            Outcome::Observed => is_open,
            _ => false,
        };
        let judged = forward.iter().filter(proves);
        let passed: Vec<String> = judged.map(|case| case.id.clone()).collect();
        let not_run = forward.iter().find(|case| case.outcome == Outcome::NotRun);
        let class = match (failed.is_empty(), passed.is_empty() || not_run.is_some()) {
            (false, _) => Class::Breaking,
            // No case shows that the part follows a situation that changed its row.
            (true, false) if change.is_moved(new) => Class::Untested,
            (true, false) => Class::Compatible,
            (true, true) => Class::Untested,
        };
        let not_played = not_run.map(|case| format!("{} could not run: {}", case.id, case.because));
        let removed = change.new.is_none();
        let warned = forward.iter().filter(|case| case.outcome == Outcome::Warn).count();
        let noticed = failures(back);
        Self { part, class, removed, not_played, note: None, warned, passed, failed, noticed }
    }

    /// The class with a note. `is_together`: the cases need other changed rows as well.
    pub(super) fn noted(
        self,
        change: &RowChange,
        forward: &[CaseReport],
        is_together: bool,
        new: &Spec,
    ) -> Self {
        let point = change.new.as_ref().and_then(|row| match &row.fact {
            Fact::Rule { point, .. } => new.profile().point(point),
            _ => None,
        });
        let unseen = point.and_then(|point| point.unseen.as_ref());
        let only_observes = forward.iter().all(|case| case.outcome == Outcome::Observed);
        let note = match self.class {
            Class::Untested if !forward.is_empty() && only_observes => {
                Some("its cases only observe; a rule needs `point` and `value`".to_owned())
            }
            Class::Untested if change.is_moved(new) => {
                Some("no case follows a situation that changed its row".to_owned())
            }
            Class::Untested => unseen.map(|why| format!("no run sees it: {why}")),
            Class::Breaking if point.is_some_and(|point| point.fixed) => {
                Some("the built-in mock stays as it is (`fixed`)".to_owned())
            }
            _ => is_together.then(|| "played with all changes, because its cases need other rows".to_owned()),
        };
        Self { note, ..self }
    }

    /// A part that no run plays.
    pub(super) fn not_played(part: PartName, why: &str) -> Self {
        let not_played = Some(why.to_owned());
        Self {
            part,
            class: Class::Untested,
            removed: false,
            not_played,
            note: None,
            warned: 0,
            passed: vec![],
            failed: vec![],
            noticed: vec![],
        }
    }
}

fn failures(cases: &[CaseReport]) -> Vec<FailedCase> {
    let failed = cases.iter().filter(|case| case.outcome == Outcome::Fail);
    failed
        .map(|case| {
            // The first mismatch says most; the others mostly follow from it.
            let first = case.mismatches.first();
            FailedCase {
                case: case.id.clone(),
                title: case.title.clone(),
                expected: first.map_or_else(|| case.expected.clone(), |first| first.expected.clone()),
                actual: first.map_or_else(|| case.actual.clone(), |first| first.actual.clone()),
                fix: case.mismatches.iter().find_map(|mismatch| mismatch.hint.clone()),
            }
        })
        .collect()
}
