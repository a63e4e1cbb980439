//! The baseline of a run: the report of an earlier run with the same load. It is checked before the run and
//! compared after it. An invalid run, or a run with another load, is rejected: its differences would prove
//! nothing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use edgeproof_cli::Failure;
use edgeproof_reports::load::{
    Comparison, Difference, LoadReport, LoadState, Model, PlanStage, PlannedLoad, Quantile, Seal,
};

use crate::measure::{JudgedTimes, ResponseTimes};
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

/// Largest difference in users that counts as rounding: scenarios of a mixed run round their shares.
const ROUNDED: u32 = 2;

impl LoadBaseline {
    /// Reads and checks a report.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        let report = LoadReport::load(path)
            .map_err(|why| Failure::of(&why, "give a report that a run wrote with --report json=PATH"))?;
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
            let what = format!("cannot compare with {}: that run was {state}", path.display());
            return Err(Failure::usage(what, "compare with a complete and valid run"));
        }
        let response = JudgedTimes::restore(&report.response, &report.successes).map_err(|why| {
            let what = format!("cannot read the response times in {}: {why}", path.display());
            Failure::usage(what, "the report was changed after it was written: repeat that run")
        })?;
        Ok(Self { path: path.to_owned(), report, response })
    }

    /// Fails if the planned run has another load.
    pub fn check_comparable(&self, planned: &LoadDescription<'_>) -> Result<(), Failure> {
        let earlier = LoadDescription {
            scenario: &self.report.scenario,
            model: self.report.model,
            plan: &self.report.plan,
            // The sum of shards is one run; a single shard is a part of one.
            shards: if let [shard] = &self.report.shards[..] { shard.count } else { 1 },
            faults: self.report.faults.iter().map(|fault| fault.fault.clone()).collect(),
        };
        let Some((what, earlier, now)) = differing(&earlier, planned) else { return Ok(()) };
        let path = self.path.display();
        let what = format!("cannot compare with {path}: {what} is {earlier} there and {now} here");
        Err(Failure::usage(what, "compare with a run that has the same load"))
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
    let fixed = [
        ("the scenario", (*scenario).to_owned()),
        ("the model", if *model == Model::Open { "open" } else { "closed" }.to_owned()),
        ("the number of shards", shards.to_string()),
        ("the load", load(&plan.stages)),
        ("the seal", if plan.seal == Seal::Opaque { "opaque" } else { "real" }.to_owned()),
        ("the replay share", plan.replay_share.to_string()),
        ("the injected fault", if faults.is_empty() { "none".to_owned() } else { faults.join(", ") }),
    ];
    let settings = plan.settings.iter().map(|(name, value)| (format!("--{name}"), value.clone()));
    fixed.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(settings).collect()
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

/// The compared figures of a run.
#[derive(Debug, Clone)]
struct ComparedRun {
    /// Response times.
    response: JudgedTimes,
    /// CPU seconds per 100,000 requests; `None` if the two runs measured different processes.
    cpu: Option<f64>,
    /// Total CPU seconds. They determine the noise of `cpu`.
    cpu_total: f64,
}

/// Resolution of the kernel's accounting of CPU time, in seconds.
const TICK: f64 = 0.01;
/// The verdict of a figure that is higher, beyond noise and tolerance.
const WORSE: &str = "worse";

/// Compares percentiles and CPU per request with an earlier run.
///
/// Noise is estimated from the data. The rank of a percentile q of n times has the standard deviation
/// √(n·q·(1−q)). The values three standard deviations away give the noise of the percentile. The noise of CPU
/// time is the resolution of its clock.
fn compare(before: &ComparedRun, now: &ComparedRun, tolerance: f64) -> Vec<Difference> {
    let mut differences: Vec<Difference> = Quantile::ALL
        .into_iter()
        .filter(|quantile| *quantile != Quantile::Max)
        .map(|quantile| {
            let noise = [before, now].map(|run| spread(run.response.slower(quantile), quantile)).iter().sum();
            let (earlier, later) = (before.response.at(quantile), now.response.at(quantile));
            let found = difference(quantile.name(), earlier.us as f64, later.us as f64, noise, tolerance);
            if later.at_least && !earlier.at_least {
                // Too few requests got an answer, or the expected one.
                return Difference { verdict: WORSE.to_owned(), ..found };
            }
            found
        })
        .collect();
    if let (Some(earlier), Some(later)) = (before.cpu, now.cpu)
        && earlier > 0.0
        && later > 0.0
    {
        let noise =
            [before.cpu_total, now.cpu_total].map(|total| 2.0 * TICK / total.max(TICK)).iter().sum::<f64>()
                + 0.02;
        differences.push(difference("CPU s for 100,000 requests", earlier, later, noise, tolerance));
    }
    differences
}

fn difference(figure: &str, before: f64, now: f64, noise: f64, tolerance: f64) -> Difference {
    let change = if before > 0.0 { now / before - 1.0 } else { 0.0 };
    let verdict = match change {
        change if change.abs() <= noise => "within noise",
        change if change.abs() <= tolerance => "within tolerance",
        change if change < 0.0 => "better",
        _ => WORSE,
    };
    Difference { figure: figure.to_owned(), before, now, change, noise, verdict: verdict.to_owned() }
}

/// Noise of a percentile, as a share of it.
fn spread(times: &ResponseTimes, quantile: Quantile) -> f64 {
    let count = times.count() as f64;
    let value = times.at(quantile).us as f64;
    if value == 0.0 {
        return 1.0;
    }
    let share = quantile.share();
    let ranks = 3.0 * (count * share * (1.0 - share)).sqrt() / count;
    let (low, high) =
        (times.value_at((share - ranks).max(0.0)).us, times.value_at((share + ranks).min(1.0)).us);
    // The histogram stores three digits.
    (high as f64 - low as f64) / 2.0 / value + 0.001
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

    fn run(count: u64, factor: f64, cpu: f64) -> ComparedRun {
        let mut response = ResponseTimes::default();
        // A long tail: 1/x.
        (1..=count).for_each(|n| {
            response.answered.record_micros((factor * 1e6 / (1.0 + 1000.0 * n as f64 / count as f64)) as u64);
        });
        let response = JudgedTimes::new(response.clone(), response);
        ComparedRun { response, cpu: Some(cpu), cpu_total: cpu * 10.0 }
    }

    /// 1,000 answers after 100 ms, or in part failures, by kind.
    #[rstest]
    #[case::fast_refusals(700, 0, "within noise")]
    #[case::nothing_but_refusals(1000, 0, "worse")]
    #[case::no_answers(0, 700, "worse")]
    #[case::nothing(0, 1000, "worse")]
    fn failures_never_improve_a_percentile(
        #[case] refused: u64,
        #[case] unanswered: u64,
        #[case] verdict: &str,
    ) {
        let ms = Duration::from_millis;
        let run = |refused: u64, unanswered: u64| {
            let mut successes = ResponseTimes::default();
            (0..1000 - refused - unanswered).for_each(|_| successes.record(ms(100), true));
            let mut response = successes.clone();
            (0..refused).for_each(|_| response.record(ms(1), true));
            (0..unanswered).for_each(|_| response.record(ms(1), false));
            ComparedRun { response: JudgedTimes::new(response, successes), cpu: None, cpu_total: 0.0 }
        };
        let differences = compare(&run(0, 0), &run(refused, unanswered), 0.1);
        assert_eq!(differences.iter().find(|found| found.figure == "p50").unwrap().verdict, verdict);
    }

    #[rstest]
    #[case::the_same(100_000, 1.0, 0.8, 0.1, "p50", "within noise")]
    #[case::a_little_slower(1_000_000, 1.05, 0.8, 0.1, "p50", "within tolerance")]
    #[case::slower(1_000_000, 1.3, 0.8, 0.1, "p50", "worse")]
    #[case::faster(1_000_000, 0.7, 0.8, 0.1, "p90", "better")]
    #[case::few_samples_hide_the_tail(200, 1.3, 0.8, 0.1, "p99.9", "within noise")]
    #[case::more_cpu(100_000, 1.0, 1.2, 0.1, "CPU s for 100,000 requests", "worse")]
    #[case::cpu_as_before(100_000, 1.0, 0.81, 0.1, "CPU s for 100,000 requests", "within noise")]
    fn change_beyond_noise_and_tolerance_is_better_or_worse(
        #[case] count: u64,
        #[case] factor: f64,
        #[case] cpu: f64,
        #[case] tolerance: f64,
        #[case] figure: &str,
        #[case] verdict: &str,
    ) {
        let differences = compare(&run(count, 1.0, 0.8), &run(count, factor, cpu), tolerance);
        let found = differences.iter().find(|difference| difference.figure == figure).unwrap();
        assert_eq!(found.verdict, verdict, "{found:?}");
    }
}
