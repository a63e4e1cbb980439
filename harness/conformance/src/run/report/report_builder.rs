use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use edgeproof_fixtures::spec::{Level, Row, Spec};
use edgeproof_reports::{
    AddedLatency, CaseReport, Cause, Confirmation, Event, Observation, Outcome, Report, Summary, TargetKind,
};

use super::case_report::without_run;
use super::doubtful::mark_doubtful;
use super::hints::write_hints;
use crate::cases::CaseFacts;
use crate::run::options::{RunOptions, RunPolicy};
use crate::run::plan::CasePlan;

/// The results of a run so far. Survives an interrupted run and can always report it in full.
pub(in crate::run) struct ReportBuilder {
    cases: Vec<Arc<CaseFacts>>,
    all_ids: Vec<String>,
    reports: Vec<Option<CaseReport>>,
    /// Number of reports that were emitted.
    emitted: usize,
    /// A finding fails the run.
    broken: bool,
    /// Report of the run, complete except for what is known at its end.
    report: Report,
    /// Every case of the target is selected.
    is_complete: bool,
    started: Instant,
    spec: Arc<Spec>,
    options: Arc<RunOptions>,
}

impl ReportBuilder {
    /// Starts with the cases that do not apply.
    pub(in crate::run) fn new(
        plan: &CasePlan,
        spec: Arc<Spec>,
        options: Arc<RunOptions>,
        report: Report,
    ) -> Self {
        let reports = plan.cases.iter().map(|planned| {
            let because = planned.not_applicable()?;
            Some(without_run(&planned.case, Outcome::NotApplicable, &because))
        });
        Self {
            cases: plan.cases.iter().map(|planned| Arc::clone(&planned.case)).collect(),
            all_ids: plan.all_ids.clone(),
            reports: reports.collect(),
            emitted: 0,
            broken: false,
            report: Report { missing_inputs: plan.missing_inputs(), ..report },
            is_complete: plan.is_complete(),
            started: Instant::now(),
            spec,
            options,
        }
    }

    /// Whether a case has no report yet.
    pub(in crate::run) fn is_open(&self, index: usize) -> bool {
        self.reports[index].is_none()
    }

    /// Records the report of a case.
    pub(in crate::run) fn record(&mut self, index: usize, mut report: CaseReport) {
        write_hints(&mut report, &self.spec);
        // The port of an edge that the run started is gone afterwards.
        let ends = self.report.target.kind != TargetKind::Attached;
        if let Some(rerun) = self.options.rerun.as_ref().filter(|_| ends && !report.reproduce.is_empty()) {
            report.reproduce = rerun.serve(&report.id).unwrap_or_default();
        }
        self.reports[index] = Some(report);
    }

    /// Records that a case cannot run.
    pub(in crate::run) fn skip(&mut self, index: usize, because: &str) {
        self.reports[index] = Some(without_run(&self.cases[index], Outcome::NotRun, because));
    }

    /// Records that all open cases cannot run.
    pub(in crate::run) fn skip_open(&mut self, because: &str) {
        for (report, case) in self.reports.iter_mut().zip(&self.cases) {
            report.get_or_insert_with(|| without_run(case, Outcome::NotRun, because));
        }
    }

    /// The position and the outcome of a case that has a report.
    pub(in crate::run) fn outcome(&self, id: &str) -> Option<(usize, Outcome)> {
        let index = self.cases.iter().position(|case| case.id == id)?;
        Some((index, self.reports[index].as_ref()?.outcome))
    }

    /// The reports so far, if a case failed or warns.
    pub(in crate::run) fn reports_with_failures(&self) -> Option<Vec<CaseReport>> {
        let mut reports = self.reports.iter().flatten();
        let has_failures = reports.any(|report| matches!(report.outcome, Outcome::Fail | Outcome::Warn));
        has_failures.then(|| self.reports.iter().flatten().cloned().collect())
    }

    /// Records what a case did when it was played again.
    pub(in crate::run) fn confirm(&mut self, index: usize, confirmation: Confirmation) {
        if let Some(report) = &mut self.reports[index] {
            report.confirmed = Some(confirmation);
        }
    }

    /// Records a message about the whole run. `broken`: it fails the run.
    pub(in crate::run) fn add_finding(&mut self, finding: String, broken: bool) {
        self.report.findings.push(finding);
        self.broken |= broken;
    }

    /// Records the latency that the edge adds.
    pub(in crate::run) fn set_latency(&mut self, latency: AddedLatency) {
        self.report.latency = Some(latency);
    }

    /// Emits reports in the order of the plan, up to the first open case. With a baseline none is emitted before the
    /// end, because the baseline can still turn a failure into a known one.
    pub(in crate::run) fn emit_ready(&mut self, policy: &RunPolicy, events: &mut dyn FnMut(Event)) {
        while policy.baseline.is_none()
            && let Some(Some(report)) = self.reports.get(self.emitted)
        {
            events(Event::Ended(Box::new(report.clone())));
            self.emitted += 1;
        }
    }

    /// Emits the rest and the end of the run, its report. `causes`: finds the causes of the failures. `interrupted`: exit
    /// code of the signal that ended the run.
    pub(in crate::run) fn finish(
        mut self,
        policy: &RunPolicy,
        causes: impl FnOnce(&[CaseReport]) -> Vec<Cause>,
        exchange_count: u64,
        interrupted: Option<u8>,
        events: &mut dyn FnMut(Event),
    ) -> Report {
        self.skip_open(match interrupted {
            Some(_) => "the run was interrupted",
            None => "the run ended before it",
        });
        let Self { mut report, mut broken, is_complete, options, spec, .. } = self;
        report.cases = self.reports.into_iter().flatten().collect();
        if let Some(baseline) = &policy.baseline {
            let stale = baseline.apply(&self.all_ids, policy.strict, &mut report.cases);
            broken |= !stale.is_empty();
            report.findings.extend(stale);
            report.findings.extend(baseline.unfinished());
        }
        for case in &report.cases[self.emitted..] {
            events(Event::Ended(Box::new(case.clone())));
        }
        report.summary = Summary::of(report.cases.iter().map(|case| case.outcome));
        report.observations = observations(report.cases.iter());
        report.unchecked_pins = options.pins.unobserved(&report.observations);
        // A filtered run may skip the cases that observe a point.
        let unjudged = unjudged(&spec, &report.cases, &options.rows_without_case);
        if is_complete && !unjudged.is_empty() {
            report.findings.push(unjudged_finding(&unjudged));
        }
        let lacks_rules = is_complete && !unjudged.is_empty();
        let lacks_pins = is_complete && !report.unchecked_pins.is_empty();
        let lacks_inputs = policy.require_all && (lacks_rules || !report.missing_inputs.is_empty());
        report.exit_code = interrupted
            .unwrap_or_else(|| exit_code(&report.summary, policy.strict, broken, lacks_inputs || lacks_pins));
        let profile = options.profile.as_ref().unwrap_or(spec.profile());
        mark_doubtful(&mut report.observations, profile, &options.pins);
        report.causes = causes(&report.cases);
        report.exchange_count = exchange_count;
        report.duration_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        events(Event::Finished(Box::new(report.clone())));
        report
    }
}

/// The rows that state a rule which no case judges: open in the current version, so that their own cases only observed, or
/// without a case.
fn unjudged(spec: &Spec, cases: &[CaseReport], without_case: &[String]) -> Vec<String> {
    let only_observes = |row: &&Row| {
        let was_open = Spec::current().row(&row.id).is_some_and(|current| current.level == Level::Open);
        let mut own = cases.iter().filter(|case| case.rows.first() == Some(&row.id)).peekable();
        was_open && own.peek().is_some() && own.all(|case| case.outcome == Outcome::Observed)
    };
    let rules = spec.rows().iter().filter(|row| row.level != Level::Open && row.excluded.is_none());
    rules.filter(only_observes).map(|row| &row.id).chain(without_case).cloned().collect()
}

fn unjudged_finding(rows: &[String]) -> String {
    let verb =
        if rows.len() == 1 { "states a rule that no case judges" } else { "state rules that no case judges" };
    format!(
        "{} {verb}. A statement about an open point takes `point` and `value` (`--record FILE` writes the points that a run \
         observes). A row that no run can judge takes `excluded` with the reason",
        rows.join(", ")
    )
}

/// Sorted and without duplicates.
fn observations<'r>(reports: impl Iterator<Item = &'r CaseReport>) -> Vec<Observation> {
    let all: BTreeSet<Observation> = reports.flat_map(|report| report.observations.clone()).collect();
    all.into_iter().collect()
}

/// 1 goes before 3. A run without a single executed case is never 0. `incomplete`: something else kept the run from proving
/// what it should.
fn exit_code(summary: &Summary, strict: bool, broken: bool, incomplete: bool) -> u8 {
    if summary.fail > 0 || broken || (strict && summary.warn > 0) {
        return 1;
    }
    let ran = summary.planned - summary.not_run - summary.not_applicable;
    if summary.not_run > 0 || ran == 0 || incomplete { 3 } else { 0 }
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
    fn exit_code_follows_the_contract(
        #[case] outcomes: &[Outcome],
        #[case] strict: bool,
        #[case] broken: bool,
        #[case] expected: u8,
    ) {
        assert_eq!(exit_code(&Summary::of(outcomes.iter().copied()), strict, broken, false), expected);
    }

    #[rstest]
    #[case::complete(&[Outcome::Pass], false, 0)]
    #[case::lacks_an_input_or_a_pin(&[Outcome::Pass, Outcome::NotApplicable], true, 3)]
    #[case::lacks_nothing(&[Outcome::Pass, Outcome::NotApplicable], false, 0)]
    #[case::fails(&[Outcome::Fail, Outcome::NotApplicable], true, 1)]
    fn what_a_run_lacks_makes_it_incomplete(
        #[case] outcomes: &[Outcome],
        #[case] incomplete: bool,
        #[case] expected: u8,
    ) {
        let summary = Summary::of(outcomes.iter().copied());
        assert_eq!(exit_code(&summary, false, false, incomplete), expected);
    }
}
