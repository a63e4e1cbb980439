use edgeproof_reports::load::{LoadReport, LoadState};

use super::comparison::{Agreement, ComparedPercentile, compare, shorter_than_scheduled};
use super::situation::{GeneratedLoad, Observation, Situation};
use crate::service::TrueTimes;

/// A check of the generator in one situation.
#[derive(Debug, Clone)]
pub(super) struct Check {
    pub(super) name: String,
    /// The situation in a few words.
    pub(super) about: String,
    pub(super) situation: Situation,
    pub(super) expected: ExpectedReport,
}

/// The result of a check. The worst one is the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CheckResult {
    /// The generator reported what was expected.
    Shown,
    /// This machine cannot show it, or is too busy for it.
    NotShown,
    /// The generator reported a wrong figure or state.
    Failed,
}

/// The result of a check with its figures.
#[derive(Debug)]
pub(super) struct CheckOutcome {
    pub(super) result: CheckResult,
    /// State of the run; empty if there was none.
    pub(super) state: String,
    pub(super) percentiles: Vec<ComparedPercentile>,
    /// Reasons, and what was not shown.
    pub(super) notes: Vec<String>,
}

/// A check with what was observed.
struct Judged<'a> {
    check: &'a Check,
    observation: &'a Observation,
    report: &'a LoadReport,
    /// The numbers of the measured requests: the first one, and how many.
    first: u64,
    count: u64,
    percentiles: Vec<ComparedPercentile>,
}

impl Check {
    /// Plays the situation and judges what the generator reported.
    pub(super) async fn run(&self) -> CheckOutcome {
        let observation = match self.situation.play().await {
            Ok(observation) => observation,
            Err((result, why)) => return CheckOutcome::without_report(result, String::new(), why),
        };
        let Some(report) = &observation.report else {
            let code = observation.code.map_or("a signal".into(), |code| format!("exit code {code}"));
            let why = format!("the generator ended with {code}: {}", observation.stderr.trim());
            return CheckOutcome::without_report(CheckResult::Failed, "no report".into(), why);
        };
        let count = report.response.figures.count;
        let first = match self.situation.load {
            GeneratedLoad::Collections => self.situation.warm_up_operations(),
            // Their numbers are in order of arrival; latency probes are the first.
            GeneratedLoad::Verdicts => (observation.record.0.len() as u64).saturating_sub(count),
        };
        let percentiles = compare(report, &observation.record.response(first, count));
        Judged { check: self, observation: &observation, report, first, count, percentiles }.outcome()
    }
}

impl Judged<'_> {
    fn outcome(self) -> CheckOutcome {
        let state = format!("{:?}", self.report.state).to_lowercase();
        let is_invalid = self.report.state == LoadState::Invalid;
        let mut wrong = self.wrong_counts();
        wrong.extend(self.wrong_end());
        let may_be_invalid = matches!(
            self.check.expected,
            ExpectedReport::Invalid | ExpectedReport::RightOrInvalid | ExpectedReport::LimitedByUsers
        );
        if is_invalid && may_be_invalid {
            wrong.extend(self.not_shown());
        } else {
            let figures = self.wrong_figures();
            if is_invalid && wrong.is_empty() && !figures.is_empty() {
                let finding = self.report.findings.first().map_or("", String::as_str);
                let mut notes = vec![format!("this machine is too busy: {finding}")];
                notes.extend(figures);
                let percentiles = self.percentiles;
                return CheckOutcome { result: CheckResult::NotShown, state, percentiles, notes };
            }
            wrong.extend(figures);
        }
        let few = |compared: &&ComparedPercentile| compared.agreement == Agreement::FewRequests;
        let result = match (wrong.is_empty(), self.percentiles.first()) {
            (false, _) => CheckResult::Failed,
            (true, Some(median)) if few(&median) && !is_invalid => CheckResult::NotShown,
            (true, _) => CheckResult::Shown,
        };
        let mut notes = wrong;
        if is_invalid && !may_be_invalid && result == CheckResult::Shown {
            notes.push("this machine is too busy for a valid run; the figures are right all the same".into());
        }
        let few = self.percentiles.iter().filter(few).map(|compared| compared.quantile.name());
        let few = few.collect::<Vec<_>>().join(", ");
        if !few.is_empty() {
            notes.push(format!("not shown: {few}, which a pause of this machine decided"));
        }
        CheckOutcome { result, state, percentiles: self.percentiles, notes }
    }

    /// Figures that the server's record contradicts. A run that is invalid because this machine is busy claims none
    /// of them, and often they are right.
    fn wrong_figures(&self) -> Vec<String> {
        let Self { report, percentiles, .. } = self;
        let situation = &self.check.situation;
        let contradicting =
            percentiles.iter().filter(|compared| compared.agreement == Agreement::Contradicts);
        let mut wrong: Vec<String> = contradicting
            .map(|compared| format!("{} contradicts the server's record", compared.quantile.name()))
            .collect();
        if percentiles.iter().any(|compared| compared.censored) && !self.observation.stdout.contains('≥') {
            wrong.push("a percentile that is only a lower bound is printed without ≥".into());
        }
        wrong.extend(self.not_shown());
        let planned = situation.measured_operations();
        if report.ledger.scheduled != planned {
            wrong.push(format!("{planned} operations planned, {} scheduled", report.ledger.scheduled));
        }
        // These servers answer whatever arrives.
        let prompt =
            matches!(self.check.expected, ExpectedReport::Delivered | ExpectedReport::RightOrInvalid);
        let never_sent = report.ledger.dropped;
        if prompt && never_sent > 0 {
            wrong.push(format!("{never_sent} operations were never sent, although the server answered"));
        }
        if situation.load == GeneratedLoad::Collections {
            let scheduled =
                self.observation.record.from_schedule(self.first, self.count, situation.rate.value());
            // The delay of an invalid run is beside its figures, not in them.
            if report.state != LoadState::Invalid {
                let short = shorter_than_scheduled(percentiles, &scheduled, self.count);
                wrong.extend(short.into_iter().map(|(quantile, least)| {
                    format!("{} leaves out waiting: by the schedule it is {least:.2?}", quantile.name())
                }));
            }
            wrong.extend(self.wrong_errors(&scheduled));
        }
        wrong
    }

    /// An expectation that the report does not show.
    fn not_shown(&self) -> Option<String> {
        let (expected, report) = (self.check.expected, self.report);
        (!expected.is_shown(report, &self.observation.stdout))
            .then(|| format!("expected: {expected}; reported: {}", reported(report)))
    }

    /// Counts that do not add up, or that the server contradicts.
    fn wrong_counts(&self) -> Vec<String> {
        let ledger = &self.report.ledger;
        let mut wrong = Vec::new();
        if !ledger.balances() {
            let (scheduled, accounted) = (ledger.scheduled, ledger.accounted());
            wrong.push(format!("{scheduled} operations scheduled, {accounted} accounted for"));
        }
        if self.check.situation.load == GeneratedLoad::Verdicts {
            return wrong;
        }
        let measured = self.first..self.first + self.count;
        let arrived = self.observation.record.0.iter().filter(|request| measured.contains(&request.number));
        let arrived = arrived.count() as u64;
        // A request that failed or was open may have arrived.
        let sent = ledger.answered..=ledger.answered + ledger.failed + ledger.open;
        if !sent.contains(&arrived) {
            wrong.push(format!("{} to {} requests sent, {arrived} arrived", sent.start(), sent.end()));
        }
        wrong
    }

    /// An exit code or a state that is not the expected one.
    fn wrong_end(&self) -> Option<String> {
        let code = self.observation.code.unwrap_or(-1);
        let is_invalid = self.report.state == LoadState::Invalid;
        let expected = self.check.expected;
        let codes: &[i32] = match expected {
            ExpectedReport::Invalid | ExpectedReport::LimitedByUsers => &[3],
            _ if is_invalid => &[3],
            ExpectedReport::Delivered => &[0],
            ExpectedReport::Failures | ExpectedReport::Saturated => &[1],
            ExpectedReport::RightOrInvalid => &[0, 1],
            ExpectedReport::Gone => &[1, 3],
        };
        let is_right = i32::from(self.report.exit_code) == code
            && codes.contains(&code)
            && (is_invalid || expected != ExpectedReport::Invalid);
        let reported = reported(self.report);
        (!is_right).then(|| format!("the run ended with {code}; expected: {expected}; reported: {reported}"))
    }

    /// A number of errors that the server's record contradicts: refused requests, requests without an answer, and
    /// requests that were not answered within the timeout from their intended start.
    fn wrong_errors(&self, scheduled: &TrueTimes) -> Option<String> {
        let situation = &self.check.situation;
        let refused = (self.first..self.first + self.count)
            .filter(|number| situation.behaviour.manner.refusal(*number).is_some());
        let expected = scheduled.longer_than(situation.timeout) + refused.count() as u64;
        let tolerance = (expected as f64 * 0.05).max(5.0);
        let found = self.report.errors();
        ((found as f64 - expected as f64).abs() > tolerance)
            .then(|| format!("{found} errors; by the server's record and the schedule it is {expected}"))
    }
}

impl CheckOutcome {
    fn without_report(result: CheckResult, state: String, why: String) -> Self {
        Self { result, state, percentiles: Vec::new(), notes: vec![why] }
    }
}

/// What the generator must report. In every case its counts agree with the server's, and its percentiles do so
/// unless the run is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub(super) enum ExpectedReport {
    /// A complete run.
    #[strum(to_string = "the whole rate delivered, exit code 0")]
    Delivered,
    /// A complete run with these failures.
    #[strum(to_string = "a broken threshold, exit code 1")]
    Failures,
    /// Right figures or an invalid run: the generator is starved.
    #[strum(to_string = "a complete or an invalid run")]
    RightOrInvalid,
    /// The generator is starved beyond doubt.
    #[strum(to_string = "an invalid run, exit code 3")]
    Invalid,
    /// The target did not keep up.
    #[strum(to_string = "the target did not keep up, exit code 1")]
    Saturated,
    /// The number of users limited the run.
    #[strum(to_string = "limited by --users, exit code 3")]
    LimitedByUsers,
    /// The target was gone before the end.
    #[strum(to_string = "the target was gone, a partial run")]
    Gone,
}

impl ExpectedReport {
    /// Whether the report says so. The exit code of an invalid run does not.
    pub(super) fn is_shown(self, report: &LoadReport, text: &str) -> bool {
        let broken = report.thresholds.iter().any(|threshold| !threshold.holds);
        match self {
            Self::Delivered => {
                !broken && report.rate.delivered >= report.rate.asked.unwrap_or_default() * 0.99
            }
            Self::Failures => broken,
            Self::Saturated => broken && text.contains("did not keep up"),
            Self::LimitedByUsers => text.contains("--users"),
            Self::Gone => text.contains("gone"),
            Self::RightOrInvalid | Self::Invalid => true,
        }
    }
}

/// What a report says in one line.
pub(super) fn reported(report: &LoadReport) -> String {
    let broken = report.thresholds.iter().filter(|threshold| !threshold.holds);
    let broken = broken.map(|threshold| format!("{} is broken", threshold.rule));
    let (delivered, asked) = (report.rate.delivered, report.rate.asked.unwrap_or_default());
    let all = std::iter::once(format!("{delivered:.1} of {asked:.1}/s delivered"));
    all.chain(broken).chain(report.findings.iter().cloned()).collect::<Vec<_>>().join("; ")
}
