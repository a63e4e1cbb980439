use edgeproof_reports::load::{LoadReport, LoadState};

use super::comparison::{Agreement, ComparedPercentile, compare, shorter_than_scheduled};
use super::expected_report::{ExpectedReport, reported};
use super::processes::Processes;
use super::situation::{GeneratedLoad, NotPlayed, Observation, Situation};
use crate::plan::Quantile;
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

impl Check {
    /// Plays the situation and judges what the generator reported.
    pub(super) fn run(&self, processes: &Processes) -> CheckOutcome {
        let (result, why) = match self.situation.play(processes) {
            Ok(observation) => return self.judge(&observation),
            Err(NotPlayed::Impossible(why)) => (CheckResult::NotShown, why),
            Err(NotPlayed::Failed(why)) => (CheckResult::Failed, format!("cannot run the check: {why}")),
        };
        CheckOutcome { result, state: String::new(), percentiles: Vec::new(), notes: vec![why] }
    }

    fn judge(&self, observation: &Observation) -> CheckOutcome {
        let Some(report) = &observation.report else {
            let code = observation.end.code.map_or("a signal".into(), |code| format!("exit code {code}"));
            let notes = vec![format!("the generator ended with {code}: {}", observation.end.stderr.trim())];
            let state = "no report".into();
            return CheckOutcome { result: CheckResult::Failed, state, percentiles: Vec::new(), notes };
        };
        let state = format!("{:?}", report.state).to_lowercase();
        let (first, count) = self.measured(observation, report);
        let truth = observation.record.response(first, count);
        let percentiles = compare(report, &truth);
        let is_invalid = report.state == LoadState::Invalid;
        let mut wrong = self.wrong_counts(observation, report, first, count);
        wrong.extend(self.wrong_end(observation, report));
        let may_be_invalid = matches!(
            self.expected,
            ExpectedReport::Invalid | ExpectedReport::RightOrInvalid | ExpectedReport::LimitedByUsers
        );
        if is_invalid && may_be_invalid {
            let is_shown = self.expected.is_shown(report, &observation.end.stdout);
            wrong.extend(
                (!is_shown)
                    .then(|| format!("expected: {}; reported: {}", self.expected.text(), reported(report))),
            );
        } else {
            let figures = self.wrong_figures(observation, report, &percentiles, first, count);
            if is_invalid && wrong.is_empty() && !figures.is_empty() {
                let finding = report.findings.first().map_or("", String::as_str);
                let mut notes = vec![format!("this machine is too busy: {finding}")];
                notes.extend(figures);
                return CheckOutcome { result: CheckResult::NotShown, state, percentiles, notes };
            }
            wrong.extend(figures);
        }
        let median = percentiles.first().map(|compared| compared.agreement);
        let result = match (wrong.is_empty(), median) {
            (false, _) => CheckResult::Failed,
            (true, Some(Agreement::FewRequests)) if !is_invalid => CheckResult::NotShown,
            (true, _) => CheckResult::Shown,
        };
        let mut notes = wrong;
        if is_invalid && !may_be_invalid && result == CheckResult::Shown {
            notes.push("this machine is too busy for a valid run; the figures are right all the same".into());
        }
        let few: Vec<&str> = percentiles
            .iter()
            .filter(|compared| compared.agreement == Agreement::FewRequests)
            .map(|compared| compared.quantile.name())
            .collect();
        if !few.is_empty() {
            notes.push(format!("not shown: {}, which a pause of this machine decided", few.join(", ")));
        }
        CheckOutcome { result, state, percentiles, notes }
    }

    /// Figures that the server's record contradicts. A run that is invalid because this machine is busy claims none
    /// of them, and often they are right.
    fn wrong_figures(
        &self,
        observation: &Observation,
        report: &LoadReport,
        percentiles: &[ComparedPercentile],
        first: u64,
        count: u64,
    ) -> Vec<String> {
        let contradicting =
            percentiles.iter().filter(|compared| compared.agreement == Agreement::Contradicts);
        let mut wrong: Vec<String> = contradicting
            .map(|compared| format!("{} contradicts the server's record", compared.quantile.name()))
            .collect();
        if percentiles.iter().any(|compared| compared.censored) && !observation.end.stdout.contains('≥') {
            wrong.push("a percentile that is only a lower bound is printed without ≥".into());
        }
        if !self.expected.is_shown(report, &observation.end.stdout) {
            wrong.push(format!("expected: {}; reported: {}", self.expected.text(), reported(report)));
        }
        let planned = self.situation.measured_operations();
        if report.ledger.scheduled != planned {
            wrong.push(format!("{planned} operations planned, {} scheduled", report.ledger.scheduled));
        }
        // These servers answer whatever arrives.
        let prompt = matches!(self.expected, ExpectedReport::Delivered | ExpectedReport::RightOrInvalid);
        let never_sent = report.ledger.dropped;
        if prompt && never_sent > 0 {
            wrong.push(format!("{never_sent} operations were never sent, although the server answered"));
        }
        if self.situation.load == GeneratedLoad::Collections {
            let scheduled = observation.record.from_schedule(first, count, self.situation.rate.value());
            // The delay of an invalid run is beside its figures, not in them.
            if report.state != LoadState::Invalid {
                let short = shorter_than_scheduled(percentiles, &scheduled, count);
                wrong.extend(short.into_iter().map(|(quantile, least)| {
                    format!("{} leaves out waiting: by the schedule it is {least:.2?}", quantile.name())
                }));
            }
            wrong.extend(self.wrong_errors(report, &scheduled, first, count));
        }
        wrong
    }

    /// The numbers of the measured requests: the first one, and how many.
    fn measured(&self, observation: &Observation, report: &LoadReport) -> (u64, u64) {
        let count = report.response.figures.count;
        match self.situation.load {
            GeneratedLoad::Collections => (self.situation.warm_up_operations(), count),
            // Their numbers are in order of arrival; latency probes are the first.
            GeneratedLoad::Verdicts => ((observation.record.0.len() as u64).saturating_sub(count), count),
        }
    }

    /// Counts that do not add up, or that the server contradicts.
    fn wrong_counts(
        &self,
        observation: &Observation,
        report: &LoadReport,
        first: u64,
        count: u64,
    ) -> Vec<String> {
        let ledger = &report.ledger;
        let mut wrong = Vec::new();
        if !ledger.balances() {
            wrong.push(format!(
                "{} operations scheduled, {} accounted for",
                ledger.scheduled,
                ledger.accounted()
            ));
        }
        if self.situation.load == GeneratedLoad::Verdicts {
            return wrong;
        }
        let arrived =
            observation.record.0.iter().filter(|request| (first..first + count).contains(&request.number));
        let arrived = arrived.count() as u64;
        // A request that failed or was open may have arrived.
        let sent = ledger.answered..=ledger.answered + ledger.failed + ledger.open;
        if !sent.contains(&arrived) {
            wrong.push(format!("{} to {} requests sent, {arrived} arrived", sent.start(), sent.end()));
        }
        wrong
    }

    /// An exit code or a state that is not the expected one.
    fn wrong_end(&self, observation: &Observation, report: &LoadReport) -> Option<String> {
        let code = observation.end.code.unwrap_or(-1);
        let is_invalid = report.state == LoadState::Invalid;
        let codes: &[i32] = match self.expected {
            ExpectedReport::Invalid | ExpectedReport::LimitedByUsers => &[3],
            _ if is_invalid => &[3],
            ExpectedReport::Delivered => &[0],
            ExpectedReport::Failures | ExpectedReport::Saturated => &[1],
            ExpectedReport::RightOrInvalid => &[0, 1],
            ExpectedReport::Gone => &[1, 3],
        };
        let is_right = i32::from(report.exit_code) == code
            && codes.contains(&code)
            && (is_invalid || self.expected != ExpectedReport::Invalid);
        let expected = self.expected.text();
        (!is_right).then(|| {
            format!("the run ended with {code}; expected: {expected}; reported: {}", reported(report))
        })
    }

    /// A number of errors that the server's record contradicts: refused requests, requests without an answer, and
    /// requests that were not answered within the timeout from their intended start.
    fn wrong_errors(
        &self,
        report: &LoadReport,
        scheduled: &TrueTimes,
        first: u64,
        count: u64,
    ) -> Option<String> {
        let manner = &self.situation.behaviour.manner;
        let late = scheduled.longer_than(self.situation.timeout);
        let refused =
            (first..first + count).filter(|number| manner.refusal(*number).is_some()).count() as u64;
        let expected = late + refused;
        let tolerance = (expected as f64 * 0.05).max(5.0);
        let found = report.errors();
        ((found as f64 - expected as f64).abs() > tolerance)
            .then(|| format!("{found} errors; by the server's record and the schedule it is {expected}"))
    }
}

impl CheckOutcome {
    /// The compared percentile, if there is one.
    pub(super) fn at(&self, quantile: Quantile) -> Option<&ComparedPercentile> {
        self.percentiles.iter().find(|compared| compared.quantile == quantile)
    }
}
