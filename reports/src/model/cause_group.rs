use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::case::{CaseReport, Mismatch};
use super::cause::Cause;
use super::confirmation::Confirmation;
use super::outcome::Outcome;
use super::summary::Summary;
use crate::text::units::counted;

/// A cause with the cases that it explains, or a row with failures that no cause explains.
#[derive(Debug)]
pub(crate) struct CauseGroup<'a> {
    pub(crate) cause: Cow<'a, Cause>,
    /// Its failures and warnings, the best example first. Never empty.
    pub(crate) cases: Vec<&'a CaseReport>,
    /// `Fail` if one of its cases failed, otherwise `Warn`.
    pub(crate) outcome: Outcome,
}

/// Groups of the failures, then of the warnings: in each, the causes in their order, then the rest by row.
pub(crate) fn cause_groups<'a>(causes: &'a [Cause], cases: &'a [CaseReport]) -> Vec<CauseGroup<'a>> {
    let judged: Vec<&CaseReport> =
        cases.iter().filter(|case| matches!(case.outcome, Outcome::Fail | Outcome::Warn)).collect();
    let by_id: HashMap<&str, &CaseReport> = judged.iter().map(|case| (case.id.as_str(), *case)).collect();
    let mut groups = Vec::new();
    for cause in causes {
        let cases: Vec<_> = cause.cases.iter().filter_map(|id| by_id.get(id.as_str()).copied()).collect();
        groups.extend(CauseGroup::new(Cow::Borrowed(cause), cases));
    }
    let explained: HashSet<&str> = causes.iter().flat_map(|cause| &cause.cases).map(String::as_str).collect();
    groups.extend(by_row(judged.into_iter().filter(|case| !explained.contains(case.id.as_str()))));
    groups.sort_by_key(|group| group.outcome);
    groups
}

/// Groups of cases without a cause: one for each outcome and first row, the largest first.
fn by_row<'a>(cases: impl Iterator<Item = &'a CaseReport>) -> Vec<CauseGroup<'a>> {
    let mut rows: Vec<((Outcome, &str), Vec<&CaseReport>)> = Vec::new();
    for case in cases {
        let key = (case.outcome, case.rows.first().unwrap_or(&case.id).as_str());
        match rows.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(case),
            None => rows.push((key, vec![case])),
        }
    }
    rows.sort_by_key(|(_, cases)| std::cmp::Reverse(cases.len()));
    let groups = rows.into_iter().filter_map(|((_, row), cases)| {
        let example = cases.first()?;
        let mismatch = example.mismatches.first();
        let title = mismatch
            .map_or_else(|| example.title.clone(), |found| format!("unexpected {}", found.property()));
        let cause = Cause {
            id: row.to_owned(),
            title,
            row: row.to_owned(),
            level: mismatch.map_or(example.level, |found| found.level),
            cases: cases.iter().map(|case| case.id.clone()).collect(),
            fix: mismatch.and_then(|found| found.hint.clone()).unwrap_or_default(),
            ..Cause::default()
        };
        CauseGroup::new(Cow::Owned(cause), cases)
    });
    groups.collect()
}

impl<'a> CauseGroup<'a> {
    fn new(cause: Cow<'a, Cause>, cases: Vec<&'a CaseReport>) -> Option<Self> {
        let outcome = cases.iter().map(|case| case.outcome).min()?;
        Some(Self { cause, cases, outcome })
    }

    /// Whether the run named this cause, and not only the row.
    pub(crate) fn is_named(&self) -> bool {
        matches!(self.cause, Cow::Borrowed(_))
    }

    /// Whether the mistake is known.
    pub(crate) fn is_explained(&self) -> bool {
        !self.cause.explanation.is_empty()
    }

    /// The best example.
    pub(crate) fn example(&self) -> &'a CaseReport {
        self.cases[0]
    }

    /// The mismatch of the best example that shows the cause.
    pub(crate) fn mismatch(&self) -> Option<&'a Mismatch> {
        let example = self.example();
        let shown = if self.is_rerun(example) { example.mismatches.get(self.cause.mismatch) } else { None };
        shown.or(example.mismatches.first())
    }

    /// What a case of it did when it was played again, if it does not always fail.
    pub(crate) fn confirmation(&self) -> Option<&'a Confirmation> {
        let confirmed = self.cases.iter().filter_map(|case| case.confirmed.as_ref());
        confirmed.into_iter().find(|confirmation| !matches!(confirmation, Confirmation::Always(_)))
    }

    /// Whether the command of the cause plays this case: it is that of the best example.
    pub(crate) fn is_rerun(&self, case: &CaseReport) -> bool {
        self.cause.cases.first() == Some(&case.id)
    }

    /// Command that plays one of its cases again: that of the best example with another id. None: the cause has no command.
    pub(crate) fn again(&self, case: &CaseReport) -> Option<String> {
        let shared = self.cause.rerun.strip_suffix(self.cause.cases.first()?)?;
        shared.ends_with(' ').then(|| format!("{shared}{}", case.id))
    }

    /// Share of the run: `21 of 36 failures and all 2 warnings; 1 case passed that this mistake usually fails`. None: the only
    /// cause explains all, which the headline says.
    pub(crate) fn explains(&self, summary: &Summary) -> Option<String> {
        let is_all = self.cases.len() == summary.get(Outcome::Fail) + summary.get(Outcome::Warn);
        if is_all && self.cause.passed.is_empty() {
            return None;
        }
        let shares = [(Outcome::Fail, "failure"), (Outcome::Warn, "warning")].map(|(outcome, noun)| {
            let own = self.cases.iter().filter(|case| case.outcome == outcome).count();
            match (own, summary.get(outcome)) {
                (0, _) => None,
                (1, 1) => Some(format!("the {noun}")),
                (own, all) if own == all => Some(format!("all {}", counted(all, noun))),
                (own, all) => Some(format!("{own} of {}", counted(all, noun))),
            }
        });
        let mut text = shares.into_iter().flatten().collect::<Vec<_>>().join(" and ");
        match self.cause.passed.len() {
            0 => {}
            1 => text.push_str("; 1 case passed that this mistake usually fails"),
            passed => put!(text, "; {passed} cases passed that this mistake usually fails"),
        }
        Some(text)
    }
}

/// Number of causes and of their cases: `3 causes behind 36 failures; 2 failures are unexplained`. `groups`: those with
/// this outcome.
pub(crate) fn headline(groups: &[&CauseGroup<'_>], outcome: Outcome) -> String {
    let noun = if outcome == Outcome::Fail { "failure" } else { "warning" };
    let ids = |explained: bool| -> HashSet<&str> {
        let groups = groups.iter().filter(|group| group.is_explained() == explained);
        let cases = groups.flat_map(|group| &group.cases).filter(|case| case.outcome == outcome);
        cases.map(|case| case.id.as_str()).collect()
    };
    let causes = groups.iter().filter(|group| group.is_explained()).count();
    let (explained, mut rest) = (ids(true), ids(false));
    rest.retain(|id| !explained.contains(id));
    match (causes, rest.len()) {
        (0, unexplained) => format!("{} without a known cause", counted(unexplained, noun)),
        (_, 0) => format!("{} behind {}", counted(causes, "cause"), counted(explained.len(), noun)),
        (_, unexplained) => format!(
            "{} behind {}; {} {} unexplained",
            counted(causes, "cause"),
            counted(explained.len(), noun),
            counted(unexplained, noun),
            if unexplained == 1 { "is" } else { "are" }
        ),
    }
}

/// Failures or warnings, those of one cause together, in the order of the groups.
pub(crate) fn cases_by_cause<'a>(groups: &[CauseGroup<'a>], outcome: Outcome) -> Vec<&'a CaseReport> {
    let mut seen = HashSet::new();
    let cases = groups.iter().flat_map(|group| &group.cases).filter(|case| case.outcome == outcome);
    cases.filter(|case| seen.insert(std::ptr::from_ref::<CaseReport>(case))).copied().collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::CaseLevel;

    fn case(id: &str, outcome: Outcome) -> CaseReport {
        let mismatch = |what: &str, place: &str| Mismatch {
            what: what.to_owned(),
            place: place.to_owned(),
            difference: None,
            expected: "a".to_owned(),
            actual: "b".to_owned(),
            hint: None,
            advice: Vec::new(),
            level: CaseLevel::Must,
        };
        CaseReport {
            id: id.to_owned(),
            rows: vec![format!("row.{}", &id[..1])],
            outcome,
            mismatches: vec![mismatch("status", ""), mismatch("body of 401 expired", "401 expired")],
            ..CaseReport::default()
        }
    }

    fn cause(explanation: &str, cases: &[&str], passed: usize) -> Cause {
        Cause {
            id: "cause".to_owned(),
            title: "Title".to_owned(),
            row: "row".to_owned(),
            level: CaseLevel::Must,
            confidence: 1.0,
            cases: cases.iter().map(|id| (*id).to_owned()).collect(),
            passed: vec!["p".to_owned(); passed],
            mismatch: 1,
            explanation: explanation.to_owned(),
            fix: String::new(),
            frameworks: Vec::new(),
            rerun: "again".to_owned(),
        }
    }

    /// Failures a1, a2, b1 and c1, a warning w1, and cases that are no failures.
    fn cases() -> Vec<CaseReport> {
        let failures = ["a1", "a2", "b1", "c1"].map(|id| case(id, Outcome::Fail));
        let others = [("w1", Outcome::Warn), ("k1", Outcome::Known), ("p1", Outcome::Pass)]
            .map(|(id, outcome)| case(id, outcome));
        failures.into_iter().chain(others).collect()
    }

    #[rstest]
    #[case(vec![cause("why", &["a1", "a2"], 0), cause("why", &["b1", "c1"], 0)], "2 causes behind 4 failures")]
    #[case(vec![cause("why", &["a1", "a2"], 0)], "1 cause behind 2 failures; 2 failures are unexplained")]
    #[case(vec![cause("why", &["a1", "a2", "b1"], 0), cause("", &["c1"], 0)], "1 cause behind 3 failures; 1 failure is unexplained")]
    #[case(vec![cause("", &["a1"], 0)], "4 failures without a known cause")]
    #[case(vec![cause("why", &["k1", "p1", "gone"], 0)], "4 failures without a known cause")]
    #[case(Vec::new(), "4 failures without a known cause")]
    fn headline_counts_causes_and_unexplained_failures(#[case] causes: Vec<Cause>, #[case] text: &str) {
        let cases = cases();
        let groups = cause_groups(&causes, &cases);
        let failures: Vec<_> = groups.iter().filter(|group| group.outcome == Outcome::Fail).collect();
        assert_eq!(headline(&failures, Outcome::Fail), text);
        let warnings: Vec<_> = groups.iter().filter(|group| group.outcome == Outcome::Warn).collect();
        assert_eq!(headline(&warnings, Outcome::Warn), "1 warning without a known cause");
        let all: HashSet<&str> =
            groups.iter().flat_map(|group| &group.cases).map(|case| case.id.as_str()).collect();
        assert_eq!(
            all,
            HashSet::from(["a1", "a2", "b1", "c1", "w1"]),
            "each failure and warning is in a group"
        );
    }

    #[rstest]
    #[case(cause("why", &["a1"], 0), "1 of 4 failures")]
    #[case(cause("why", &["a1", "w1"], 1), "1 of 4 failures and the warning; 1 case passed that this mistake usually fails")]
    #[case(cause("why", &["w1"], 2), "the warning; 2 cases passed that this mistake usually fails")]
    fn share_of_a_cause_counts_failures_and_warnings(#[case] cause: Cause, #[case] text: &str) {
        let cases = cases();
        let summary = Summary::of(cases.iter().map(|case| case.outcome));
        let causes = [cause];
        let groups = cause_groups(&causes, &cases);
        let group = groups.iter().find(|group| group.is_named()).unwrap();
        assert_eq!(group.explains(&summary).as_deref(), Some(text));
    }

    #[test]
    fn mismatch_of_a_cause_is_the_one_of_its_best_example() {
        let cases = cases();
        let mut causes =
            [cause("why", &["b1"], 0), cause("why", &["gone", "a1"], 0), cause("why", &["c1"], 0)];
        causes[2].mismatch = 7;
        let groups = cause_groups(&causes, &cases);
        let shown = groups.iter().map(|group| group.mismatch().unwrap().what.as_str());
        // By itself, without its best example, with an index that does not exist; then the groups by row.
        assert_eq!(
            shown.collect::<Vec<_>>(),
            ["body of 401 expired", "status", "status", "status", "status"]
        );
        assert_eq!(groups[3].cause.title, "unexpected status");
        assert_eq!(groups[3].cases[0].id, "a2");
    }
}
