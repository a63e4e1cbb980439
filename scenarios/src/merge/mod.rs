//! The reports of shards, added up.

mod sums;

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use edgeproof_reports::TargetKind;
use edgeproof_reports::load::{LoadReport, LoadState, LoadTarget, Seal, Shard};

use crate::measure::HistogramError;
use crate::plan::{Metric, PlanError, Threshold};
use crate::report::{exit_code, judge_report};
use sums::{faults, ledgers, optional, reconciled, routes, seal, timelines, timings};

/// Reports that are not the shards of one run.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum MergeError {
    /// Nothing to add up.
    #[error("merge reports: there are none")]
    #[diagnostic(help("name the JSON report of each shard"))]
    None,
    /// A shard is not there.
    #[error("merge the shards: {} of {count} are missing: {}", missing.len(), list(missing))]
    #[diagnostic(help(
        "name the report of every shard; one that did not run leaves a hole in the load, and the sum would look better than the truth"
    ))]
    Missing {
        /// Counted from 0.
        missing: Vec<u32>,
        /// How many there should be.
        count: u32,
    },
    /// A shard is there twice.
    #[error("merge the shards: shard {index} is there twice")]
    #[diagnostic(help("name each report once"))]
    Twice {
        /// Counted from 0.
        index: u32,
    },
    /// They are of different runs.
    #[error("merge the shards: shard {index} is of another run: its {what} differs")]
    #[diagnostic(help("all shards are started with the same arguments, and with the same --seed"))]
    OtherRun {
        /// Counted from 0.
        index: u32,
        /// What differs.
        what: &'static str,
    },
    /// A shard was judged by what is no threshold.
    #[error("merge the shards: shard {index} was judged by {rule:?}, which is no threshold: {}", why.why)]
    #[diagnostic(help(
        "the report was changed after it was written, or the shard was given a limit below 1us: start the shards with one that can be told"
    ))]
    Rule {
        /// Counted from 0.
        index: u32,
        /// As the report has it.
        rule: String,
        /// What is wrong with it.
        why: PlanError,
    },
    /// Nobody knows when a shard began.
    #[error("merge the shards: shard {index} began at {started:?}, which is no time")]
    #[diagnostic(help("the report was changed after it was written"))]
    Started {
        /// Counted from 0.
        index: u32,
        /// As the report has it.
        started: String,
    },
    /// A histogram in a report is none.
    #[error(transparent)]
    #[diagnostic(help("the report was changed after it was written"))]
    Histogram(#[from] HistogramError),
    /// A time line in a report is none.
    #[error("merge the time lines: their moments are of no width that is written")]
    #[diagnostic(help("the report was changed after it was written"))]
    Timeline,
}

/// Shards that began further apart than this part of the planned time did not make one load.
const SKEW: f64 = 0.05;
/// So far apart they may always begin: processes that are started at once are not ready at once.
const LEAST_SKEW: Duration = Duration::from_secs(1);

/// Adds the shards of a run up, and judges the sum once: against the thresholds that are asked for here, or else all that any
/// shard had; what the shards had for the error rate stays unless one is asked for. A shard that is invalid makes the sum
/// invalid, and so do shards that did not run at the same time. The order of the reports makes no difference.
pub fn merge(reports: &[LoadReport], asked: &[(Threshold, bool)]) -> Result<LoadReport, MergeError> {
    let mut reports = reports.to_vec();
    reports.sort_by_key(|report| report.shards.first().map(|shard| shard.index));
    let reports = &reports[..];
    let Some(first) = reports.first() else { return Err(MergeError::None) };
    check(first, reports)?;
    let thresholds = thresholds(reports, asked)?;
    let mut sum = first.clone();
    sum.shards = reports.iter().flat_map(|report| report.shards.clone()).collect();
    sum.shards.sort_by_key(|shard| shard.index);
    sum.started = reports.iter().map(|report| report.started.clone()).min().unwrap_or_default();
    sum.duration_ms = reports.iter().map(|report| report.duration_ms).max().unwrap_or(0);
    sum.plan.drain.took_ms = reports.iter().map(|report| report.plan.drain.took_ms).max().unwrap_or(0);
    sum.plan.seal = seal(reports);
    sum.plan.users = reports.iter().map(|report| report.plan.users).sum();
    sum.rate.asked = first.rate.asked.map(|_| reports.iter().filter_map(|report| report.rate.asked).sum());
    sum.rate.begun = reports.iter().map(|report| report.rate.begun).sum();
    sum.rate.delivered = reports.iter().map(|report| report.rate.delivered).sum();
    sum.ledger = ledgers(reports.iter().map(|report| &report.ledger));
    sum.warm_up = ledgers(reports.iter().map(|report| &report.warm_up));
    sum.response = timings(reports.iter().map(|report| &report.response))?;
    sum.service = timings(reports.iter().map(|report| &report.service))?;
    sum.lateness = timings(reports.iter().map(|report| &report.lateness))?;
    sum.waiting = timings(reports.iter().map(|report| &report.waiting))?;
    sum.time_to_verdict = optional(reports.iter().filter_map(|report| report.time_to_verdict.as_ref()))?;
    if let Some(added) = &mut sum.edge_added {
        let each = reports.iter().filter_map(|report| report.edge_added.as_ref()).map(|added| &added.timing);
        added.timing = timings(each)?;
    }
    // What each edge cost is in the report of its shard.
    sum.edge_cost = if reports.len() == 1 { sum.edge_cost } else { None };
    sum.routes = routes(reports)?;
    sum.reconciled = reconciled(reports);
    sum.timeline = timelines(reports)?;
    sum.faults = faults(reports);
    let requests: u64 = sum.routes.iter().map(|route| route.sent).sum();
    let generators = || reports.iter().map(|report| &report.generator);
    sum.generator.cpu_s = generators().map(|generator| generator.cpu_s).sum();
    sum.generator.processors = generators().map(|generator| generator.processors).sum();
    sum.generator.cpu_s_per_100k =
        if requests == 0 { 0.0 } else { sum.generator.cpu_s * 1e5 / requests as f64 };
    sum.generator.starved = generators().map(|generator| generator.starved).fold(0.0, f64::max);
    sum.generator.memory_first = generators().map(|generator| generator.memory_first).sum();
    sum.generator.memory_last = generators().map(|generator| generator.memory_last).sum();
    sum.generator.lag = timings(generators().map(|generator| &generator.lag))?;
    sum.comparison = None;
    sum.state = state(reports);
    sum.findings = findings(reports);
    let planned = Duration::from_millis(first.plan.warm_up_ms + first.plan.measured_ms);
    if let Some(skewed) = skewed(&sum.shards, planned)? {
        sum.state = LoadState::Invalid;
        sum.findings.insert(0, skewed);
    }
    sum.thresholds = judge_report(&sum, &thresholds);
    sum.exit_code = exit_code(&sum);
    Ok(sum)
}

fn check(first: &LoadReport, reports: &[LoadReport]) -> Result<(), MergeError> {
    let count = first.shards.first().map_or(1, |shard| shard.count);
    let mut there = BTreeSet::new();
    for report in reports {
        for shard in &report.shards {
            let index = shard.index;
            let differs = [
                ("schema", report.schema != first.schema),
                ("version of edgeproof", report.tool != first.tool),
                ("scenario", report.scenario != first.scenario),
                ("model", report.model != first.model),
                ("number of shards", shard.count != count),
                ("seed", report.plan.seed != first.plan.seed),
                ("plan", plan(report) != plan(first)),
                ("target", target(report) != target(first)),
                ("faults", faults_asked(report) != faults_asked(first)),
            ];
            if let Some((what, _)) = differs.into_iter().find(|(_, differs)| *differs) {
                return Err(MergeError::OtherRun { index, what });
            }
            if !there.insert(index) {
                return Err(MergeError::Twice { index });
            }
        }
    }
    let missing: Vec<u32> = (0..count).filter(|index| !there.contains(index)).collect();
    if missing.is_empty() { Ok(()) } else { Err(MergeError::Missing { missing, count }) }
}

/// What they loaded; what was started for a run has an address of its own in each.
fn target(report: &LoadReport) -> LoadTarget {
    let target = report.target.clone();
    let edge_url = target.edge_url.filter(|_| target.kind == TargetKind::Attached);
    LoadTarget { edge_url, ..target }
}

fn faults_asked(report: &LoadReport) -> Vec<&str> {
    report.faults.iter().map(|fault| fault.fault.as_str()).collect()
}

/// What shards have in common.
fn plan(report: &LoadReport) -> edgeproof_reports::load::Plan {
    let mut plan = report.plan.clone();
    plan.drain.took_ms = 0;
    plan.users = 0;
    if let Seal::Real { cost_us, not_in_time } = &mut plan.seal {
        (*cost_us, *not_in_time) = (0.0, 0);
    }
    plan
}

fn state(reports: &[LoadReport]) -> LoadState {
    let any = |state| reports.iter().any(|report| report.state == state);
    [LoadState::Invalid, LoadState::Partial, LoadState::Unchecked]
        .into_iter()
        .find(|state| any(*state))
        .unwrap_or(LoadState::Complete)
}

fn findings(reports: &[LoadReport]) -> Vec<String> {
    let of_one = |report: &LoadReport| {
        let index = report.shards.first().map_or(0, |shard| shard.index);
        report.findings.iter().map(move |finding| format!("shard {index}: {finding}")).collect::<Vec<_>>()
    };
    reports.iter().flat_map(of_one).collect()
}

/// That shards did not begin together, and what to do. How long each loads is part of the plan, which they share.
fn skewed(shards: &[Shard], planned: Duration) -> Result<Option<String>, MergeError> {
    let mut starts: Vec<(SystemTime, u32)> = Vec::new();
    for Shard { index, started, .. } in shards {
        let at = humantime::parse_rfc3339(started)
            .map_err(|_| MergeError::Started { index: *index, started: started.clone() })?;
        starts.push((at, *index));
    }
    let (Some((first, early)), Some((last, late))) = (starts.iter().min(), starts.iter().max()) else {
        return Ok(None);
    };
    let apart = last.duration_since(*first).unwrap_or_default();
    let allowed = planned.mul_f64(SKEW).max(LEAST_SKEW);
    Ok((apart > allowed).then(|| {
        format!(
            "the shards did not run at the same time, so the target never saw the whole rate: shard {late} began {:.1} s after \
             shard {early}, and {:.1} s would do; give all of them the same --start-at, late enough that each is up by then, or \
             run them as an Indexed Job whose pods run side by side",
            apart.as_secs_f64(),
            allowed.as_secs_f64()
        )
    }))
}

/// What the sum is judged by.
fn thresholds(
    reports: &[LoadReport],
    asked: &[(Threshold, bool)],
) -> Result<Vec<(Threshold, bool)>, MergeError> {
    let given = given(reports)?;
    if asked.is_empty() {
        return Ok(given);
    }
    let judges_errors = |(threshold, _): &(Threshold, bool)| {
        threshold.metric == Metric::ErrorRate && threshold.route.is_none()
    };
    let mut all = asked.to_vec();
    // Without one, a run of nothing but errors could be green.
    if !asked.iter().any(judges_errors) {
        all.extend(given.into_iter().filter(judges_errors));
    }
    Ok(all)
}

/// The thresholds that any of the shards was judged by, each once. It is there by default where nobody gave it.
fn given(reports: &[LoadReport]) -> Result<Vec<(Threshold, bool)>, MergeError> {
    let mut all: Vec<(Threshold, bool)> = Vec::new();
    for report in reports {
        let index = report.shards.first().map_or(0, |shard| shard.index);
        for result in &report.thresholds {
            let threshold = Threshold::of(result).map_err(|why| MergeError::Rule {
                index,
                rule: result.rule.clone(),
                why,
            })?;
            match all.iter_mut().find(|(known, _)| *known == threshold) {
                Some((_, by_default)) => *by_default &= result.by_default,
                None => all.push((threshold, result.by_default)),
            }
        }
    }
    Ok(all)
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
