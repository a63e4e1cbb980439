use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use edgeproof_reports::{AddedLatency, CaseReport, Event, Observation, Outcome, Summary};

use super::baseline::Baseline;
use super::outcome::unplayed;
use super::plan::Plan;
use crate::cases::Case;

/// What came of a run so far. It outlives a run that is cut short, and can always tell the whole story.
pub struct Tally {
    cases: Vec<Arc<Case>>,
    all: Vec<String>,
    reports: Vec<Option<CaseReport>>,
    told: usize,
    findings: Vec<String>,
    broken: bool,
    latency: Option<AddedLatency>,
    started: Instant,
}

/// What decides about the exit code besides the cases.
#[derive(Debug, Default)]
pub struct RunPolicy {
    /// Warnings count.
    pub strict: bool,
    /// Known failures.
    pub baseline: Option<Baseline>,
    /// The signal's exit code, where one ended the run.
    pub interrupted: Option<u8>,
}

impl Tally {
    /// Nothing has run.
    pub fn new(plan: &Plan) -> Self {
        let mut tally = Self {
            cases: plan.cases.iter().map(|(case, _)| Arc::clone(case)).collect(),
            all: plan.all.clone(),
            reports: vec![None; plan.cases.len()],
            told: 0,
            findings: Vec::new(),
            broken: false,
            latency: None,
            started: Instant::now(),
        };
        for (index, (case, why)) in plan.cases.iter().enumerate() {
            if let Some(why) = why {
                tally.reports[index] = Some(unplayed(case, Outcome::NotApplicable, why));
            }
        }
        tally
    }

    /// Whether a case still has to be played.
    pub(super) fn is_open(&self, index: usize) -> bool {
        self.reports[index].is_none()
    }

    /// A case ended.
    pub(super) fn put(&mut self, index: usize, report: CaseReport) {
        self.reports[index] = Some(report);
    }

    /// What is to be said about the whole run. `broken`: it makes the run fail.
    pub(super) fn find(&mut self, finding: String, broken: bool) {
        self.findings.push(finding);
        self.broken |= broken;
    }

    /// How the target behaved at open points so far.
    pub(super) fn observations(&self) -> Vec<Observation> {
        self.reports.iter().flatten().flat_map(|report| report.observations.clone()).collect()
    }

    /// Latency that the edge adds.
    pub(super) fn measured(&mut self, latency: AddedLatency) {
        self.latency = Some(latency);
    }

    /// None of the cases that are open can be played.
    pub(super) fn give_up(&mut self, because: &str) {
        for (report, case) in self.reports.iter_mut().zip(&self.cases) {
            report.get_or_insert_with(|| unplayed(case, Outcome::NotRun, because));
        }
    }

    /// Tells of the cases that ended, in the order of the plan, as far as none before them is open. With a baseline
    /// nothing is told before the end: it can still turn a failure into a known one.
    pub(super) fn tell(&mut self, verdict: &RunPolicy, events: &mut dyn FnMut(Event)) {
        while verdict.baseline.is_none()
            && let Some(Some(report)) = self.reports.get(self.told)
        {
            events(Event::Ended(Box::new(report.clone())));
            self.told += 1;
        }
    }

    /// Tells the rest, and the end. Returns the exit code.
    pub fn finish(mut self, verdict: &RunPolicy, events: &mut dyn FnMut(Event)) -> u8 {
        let because =
            if verdict.interrupted.is_some() { "the run was interrupted" } else { "the run ended before it" };
        self.give_up(because);
        let mut reports: Vec<CaseReport> = self.reports.iter_mut().filter_map(Option::take).collect();
        if let Some(baseline) = &verdict.baseline {
            let stale = baseline.apply(&self.all, verdict.strict, &mut reports);
            self.broken |= !stale.is_empty();
            self.findings.extend(stale);
        }
        for report in &reports[self.told..] {
            events(Event::Ended(Box::new(report.clone())));
        }
        for finding in self.findings {
            events(Event::Finding(finding));
        }
        let summary = Summary::of(reports.iter().map(|report| report.outcome));
        let exit_code =
            verdict.interrupted.unwrap_or_else(|| exit_code(&summary, verdict.strict, self.broken));
        let observations: BTreeSet<Observation> =
            reports.iter().flat_map(|report| report.observations.clone()).collect();
        events(Event::Finished {
            summary,
            observations: observations.into_iter().collect(),
            latency: self.latency,
            duration_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            exit_code,
        });
        exit_code
    }
}

/// 1 goes before 3, and nothing that ran is never 0.
fn exit_code(summary: &Summary, strict: bool, broken: bool) -> u8 {
    if summary.fail > 0 || broken || (strict && summary.warn > 0) {
        return 1;
    }
    let ran = summary.planned - summary.not_run - summary.not_applicable;
    if summary.not_run > 0 || ran == 0 { 3 } else { 0 }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::conforms(&[Outcome::Pass, Outcome::Observed, Outcome::NotApplicable], false, false, 0)]
    #[case::fails(&[Outcome::Pass, Outcome::Fail, Outcome::NotRun], false, false, 1)]
    #[case::incomplete(&[Outcome::Pass, Outcome::NotRun], false, false, 3)]
    #[case::warns(&[Outcome::Pass, Outcome::Warn], false, false, 0)]
    #[case::strict(&[Outcome::Pass, Outcome::Warn], true, false, 1)]
    #[case::stale(&[Outcome::Pass], false, true, 1)]
    #[case::known(&[Outcome::Known], false, false, 0)]
    #[case::nothing_planned(&[], false, false, 3)]
    #[case::nothing_ran(&[Outcome::NotApplicable], false, false, 3)]
    fn exits(#[case] outcomes: &[Outcome], #[case] strict: bool, #[case] broken: bool, #[case] expected: u8) {
        assert_eq!(exit_code(&Summary::of(outcomes.iter().copied()), strict, broken), expected);
    }
}
