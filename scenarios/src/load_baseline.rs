//! The baseline of a run: the report of an earlier run with the same load. It is checked before the run and
//! compared after it. An invalid run, or a run with another load, is rejected: its differences would prove
//! nothing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use edgeproof_reports::ReadError;
use edgeproof_reports::load::{Comparison, LoadReport, LoadState, Model, PlanStage, PlannedLoad, Seal};
use miette::Diagnostic;

use crate::measure::{ComparedRun, HistogramError, JudgedTimes, compare};
use crate::plan::{Metric, Threshold};

/// A valid report of an earlier run.
#[derive(Debug)]
pub struct LoadBaseline {
    path: PathBuf,
    report: LoadReport,
    response: JudgedTimes,
}

/// The load of a run: two comparable runs agree on it.
#[derive(Debug, Clone)]
pub struct LoadDescription<'a> {
    /// The scenario's name.
    pub scenario: &'a str,
    /// Open or closed model.
    pub model: Model,
    /// Stages, users and scenario settings.
    pub plan: &'a PlannedLoad,
    /// Number of shards.
    pub shards: u32,
    /// Faults injected into the service.
    pub faults: Vec<String>,
}

/// Why a report cannot be the baseline.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum LoadBaselineError {
    /// The file is not a load report.
    #[error(transparent)]
    #[diagnostic(help("give a report that a run wrote with --report json=PATH"))]
    Read(#[from] ReadError),
    /// The histogram of response times is unreadable.
    #[error("cannot read the response times in {}: {why}", path.display())]
    #[diagnostic(help("the report was changed after it was written: repeat that run"))]
    Histogram {
        /// Path of the report.
        path: PathBuf,
        /// Cause.
        why: HistogramError,
    },
    /// The earlier run is not valid.
    #[error("cannot compare with {}: that run was {state}", path.display())]
    #[diagnostic(help("compare with a complete and valid run"))]
    NoMeasure {
        /// Path of the report.
        path: PathBuf,
        /// State of the earlier run.
        state: &'static str,
    },
    /// The earlier run had another load.
    #[error("cannot compare with {}: {what} is {earlier} there and {now} here", path.display())]
    #[diagnostic(help("compare with a run that has the same load"))]
    OtherLoad {
        /// Path of the report.
        path: PathBuf,
        /// Property that differs.
        what: String,
        /// Value in the earlier run.
        earlier: String,
        /// Value in the planned run.
        now: String,
    },
}

/// Largest difference in users that counts as rounding: scenarios of a mixed run round their shares.
const ROUNDED: u32 = 2;

impl LoadBaseline {
    /// Reads and checks a report.
    pub fn load(path: &Path) -> Result<Self, LoadBaselineError> {
        let report = LoadReport::load(path)?;
        let path = path.to_owned();
        let judges_errors = |result| Threshold::of(result).is_ok_and(|rule| rule.metric == Metric::ErrorRate);
        let state = match report.state {
            // Errors return fast, so their response times are no baseline.
            _ if report.thresholds.iter().any(|result| !result.holds && judges_errors(result)) => {
                Some("full of errors")
            }
            LoadState::Complete | LoadState::Unchecked => None,
            LoadState::Partial => Some("partial"),
            LoadState::Invalid => Some("invalid"),
        };
        if let Some(state) = state {
            return Err(LoadBaselineError::NoMeasure { path, state });
        }
        match JudgedTimes::restore(&report.response, &report.successes) {
            Ok(response) => Ok(Self { path, report, response }),
            Err(why) => Err(LoadBaselineError::Histogram { path, why }),
        }
    }

    /// Fails if the planned run has another load.
    pub fn check_comparable(&self, planned: &LoadDescription<'_>) -> Result<(), LoadBaselineError> {
        let earlier = LoadDescription {
            scenario: &self.report.scenario,
            model: self.report.model,
            plan: &self.report.plan,
            // The sum of shards is one run; a single shard is a part of one.
            shards: if let [shard] = &self.report.shards[..] { shard.count } else { 1 },
            faults: self.report.faults.iter().map(|fault| fault.fault.clone()).collect(),
        };
        match differing(&earlier, planned) {
            None => Ok(()),
            Some((what, earlier, now)) => {
                Err(LoadBaselineError::OtherLoad { path: self.path.clone(), what, earlier, now })
            }
        }
    }

    /// Differences between the earlier run and this one.
    pub fn compare(&self, report: &LoadReport, tolerance: f64) -> Comparison {
        // CPU time is comparable only if both runs had the edge in the same process.
        let comparable = self.report.target.kind == report.target.kind
            && self.report.edge_cost.is_some() == report.edge_cost.is_some();
        let measured = |report: &LoadReport, response: JudgedTimes| {
            let (cpu, cpu_total) = cpu(report);
            ComparedRun { response, cpu: comparable.then_some(cpu), cpu_total }
        };
        let now = JudgedTimes::restore(&report.response, &report.successes).unwrap_or_default();
        let differences =
            compare(&measured(&self.report, self.response.clone()), &measured(report, now), tolerance);
        Comparison {
            baseline: self.path.display().to_string(),
            started: self.report.started.clone(),
            tolerance,
            differences,
        }
    }
}

/// First property that differs, with its earlier and its planned value.
fn differing(earlier: &LoadDescription<'_>, now: &LoadDescription<'_>) -> Option<(String, String, String)> {
    let (was, is) = (properties(earlier), properties(now));
    let changed = was.into_iter().zip(is).find(|((_, was), (_, is))| was != is);
    if let Some(((what, was), (_, is))) = changed {
        return Some((what, was, is));
    }
    let (was, is) = (earlier.plan.users, now.plan.users);
    // In the open model users are only connections, of which there are enough.
    (now.model == Model::Closed && was.abs_diff(is) > ROUNDED)
        .then(|| ("the number of users".to_owned(), was.to_string(), is.to_string()))
}

/// The comparable properties of a load, by name.
fn properties(asked: &LoadDescription<'_>) -> Vec<(String, String)> {
    let LoadDescription { scenario, model, plan, shards, faults } = asked;
    let model = if *model == Model::Open { "open" } else { "closed" };
    let seal = if plan.seal == Seal::Opaque { "opaque" } else { "real" };
    let faults = if faults.is_empty() { "none".to_owned() } else { faults.join(", ") };
    let mut properties = vec![
        ("the scenario".to_owned(), (*scenario).to_owned()),
        ("the model".to_owned(), model.to_owned()),
        ("the number of shards".to_owned(), shards.to_string()),
        ("the load".to_owned(), load(&plan.stages)),
        ("the seal".to_owned(), seal.to_owned()),
        ("the replay share".to_owned(), plan.replay_share.to_string()),
        ("the injected fault".to_owned(), faults),
    ];
    properties.extend(plan.settings.iter().map(|(name, value)| (format!("--{name}"), value.clone())));
    properties
}

/// The stages as text. The duration of a constant rate is left out: it does not change the load.
fn load(stages: &[PlanStage]) -> String {
    let Some(first) = stages.first() else { return String::new() };
    let rate = |rate: f64| ((rate * 1000.0).round() / 1000.0).to_string();
    let constant = rate(first.from);
    if stages.iter().all(|stage| rate(stage.from) == constant && rate(stage.to) == constant) {
        return format!("{constant}/s");
    }
    let stage = |stage: &PlanStage| {
        let time = humantime::format_duration(Duration::from_millis(stage.time_ms));
        format!("{time} from {} to {}/s", rate(stage.from), rate(stage.to))
    };
    stages.iter().map(stage).collect::<Vec<_>>().join(", ")
}

/// CPU seconds per 100,000 requests and in total: of a launched edge, otherwise of this process.
fn cpu(report: &LoadReport) -> (f64, f64) {
    match &report.edge_cost {
        Some(cost) => (cost.cpu_s_per_100k, cost.cpu_s),
        None => (report.generator.cpu_s_per_100k, report.generator.cpu_s),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn plan(stages: &[(f64, f64)], users: u32) -> PlannedLoad {
        let stage = |(from, to): &(f64, f64)| PlanStage { time_ms: 10_000, from: *from, to: *to };
        PlannedLoad {
            stages: stages.iter().map(stage).collect(),
            users,
            settings: [("wait".to_owned(), "1s".to_owned())].into(),
            ..PlannedLoad::default()
        }
    }

    fn description(model: Model, plan: &PlannedLoad) -> LoadDescription<'_> {
        LoadDescription { scenario: "journey", model, plan, shards: 1, faults: Vec::new() }
    }

    fn check(change: impl Fn(&mut PlannedLoad, &mut LoadDescription<'_>), found: Option<(&str, &str, &str)>) {
        let earlier = plan(&[(100.0, 100.0)], 8);
        let asked = |plan| description(Model::Open, plan);
        let (mut other, spare) = (earlier.clone(), earlier.clone());
        let mut now = asked(&spare);
        change(&mut other, &mut now);
        now.plan = &other;
        let difference = differing(&asked(&earlier), &now);
        let difference =
            difference.as_ref().map(|(what, was, is)| (what.as_str(), was.as_str(), is.as_str()));
        assert_eq!(difference, found);
    }

    #[test]
    fn another_load_is_rejected() {
        check(|_, _| {}, None);
        check(|plan, _| plan.users = 80, None);
        check(|plan, _| (plan.seed, plan.stages[0].time_ms) = (2, 60_000), None);
        check(|_, now| now.scenario = "mixed", Some(("the scenario", "journey", "mixed")));
        check(|_, now| now.model = Model::Closed, Some(("the model", "open", "closed")));
        check(|_, now| now.shards = 4, Some(("the number of shards", "1", "4")));
        check(|other, _| *other = plan(&[(500.0, 500.0)], 8), Some(("the load", "100/s", "500/s")));
        check(
            |other, _| *other = plan(&[(0.0, 100.0)], 8),
            Some(("the load", "100/s", "10s from 0 to 100/s")),
        );
        check(
            |plan, _| plan.settings = [("wait".to_owned(), "5s".to_owned())].into(),
            Some(("--wait", "1s", "5s")),
        );
        let slow = "service slower by 1s";
        check(|_, now| now.faults = vec![slow.to_owned()], Some(("the injected fault", "none", slow)));
    }

    #[rstest]
    #[case(50, 51, true)]
    #[case(50, 100, false)]
    fn users_must_agree_in_the_closed_model(#[case] was: u32, #[case] is: u32, #[case] same: bool) {
        let (was, is) = (plan(&[], was), plan(&[], is));
        let closed = |users| description(Model::Closed, users);
        assert_eq!(differing(&closed(&was), &closed(&is)).is_none(), same);
    }
}
