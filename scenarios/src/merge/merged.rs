use std::time::Duration;

use edgeproof_reports::load::{LoadReport, LoadState};

use super::error::MergeError;
use super::shards::{check, skewed};
use super::sums::{
    connections, contention, faults, ledgers, optional, probes, reconciled, routes, seal, timelines, timings,
};
use super::thresholds::thresholds;
use crate::plan::Threshold;
use crate::report::{distorted, distortion, exit_code, judge_report, tolerance};

/// Merges the shards of a run and judges the sum once.
///
/// The given thresholds replace those of the shards, except for error rate and delivered share if no given
/// threshold covers them. An invalid shard makes the sum invalid, and so do shards that ran at different times. The order of the
/// reports does not matter.
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
    sum.successes = timings(reports.iter().map(|report| &report.successes))?;
    sum.observed = timings(reports.iter().map(|report| &report.observed))?;
    sum.delay = timings(reports.iter().map(|report| &report.delay))?;
    sum.service = timings(reports.iter().map(|report| &report.service))?;
    sum.lateness = timings(reports.iter().map(|report| &report.lateness))?;
    sum.waiting = timings(reports.iter().map(|report| &report.waiting))?;
    sum.time_to_verdict = optional(reports.iter().filter_map(|report| report.time_to_verdict.as_ref()))?;
    sum.time_to_verdict_observed =
        optional(reports.iter().filter_map(|report| report.time_to_verdict_observed.as_ref()))?;
    if let Some(added) = &mut sum.edge_added {
        let each = reports.iter().filter_map(|report| report.edge_added.as_ref()).map(|added| &added.timing);
        added.timing = timings(each)?;
    }
    // The cost of each edge is in the report of its shard.
    sum.edge_cost = if reports.len() == 1 { sum.edge_cost } else { None };
    sum.routes = routes(reports)?;
    sum.connections = connections(reports)?;
    sum.probes = probes(reports);
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
    sum.generator.late_reads_measured = generators().all(|generator| generator.late_reads_measured);
    sum.generator.contention = contention(reports);
    sum.comparison = None;
    let tolerance = tolerance(&sum.generator.contention, sum.duration_ms * reports.len() as u64);
    sum.distorted = distorted(&sum, &thresholds, tolerance).into_iter().map(distortion).collect();
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
