use std::time::Duration;

use edgeproof_reports::TargetKind;
use edgeproof_reports::Tool;
use edgeproof_reports::load::{
    ConnectionFigures, EdgeAdded, EdgeCost, EdgeMoment, Generator, LOAD_SCHEMA, LoadReport, LoadState,
    LoadTarget, Model, RouteFigures, Seal, ShardFigures,
};

use super::counts::{imbalance, rates, reconcile, unanswered};
use super::digest::digest;
use super::distortion::{contention_figures, distorted, distortion, tolerance};
use super::exit_code::exit_code;
use super::findings::{conclude, partial_reasons, without_result};
use super::inputs::ReportInputs;
use super::outage::{faults, gone};
use super::own_limits::{own_limits, user_waits};
use super::routes::route;
use super::thresholds::judge_report;
use super::timing::{response_timing, timeline, timing};
use crate::engine::RunData;
use crate::measure::{
    LoadMeasurements, RequestOutcome, ResponseTimes, SAMPLED, UserWaits, ValidityInputs, invalid_reasons,
};
use crate::plan::{Arrivals, ScenarioName};

/// Builds the report of a run.
pub fn build(inputs: ReportInputs<'_>, data: &RunData) -> LoadReport {
    let measurements = &data.recorded.measurements;
    let planned_s = inputs.plan.measured_ms as f64 / 1000.0;
    // An interrupted run measured at most the time it took.
    let measured_s = if data.interrupted.is_some() {
        let warm_up = Duration::from_millis(inputs.plan.warm_up_ms);
        planned_s.min(data.took.saturating_sub(data.drained).saturating_sub(warm_up).as_secs_f64())
    } else {
        planned_s
    };
    let rate = rates(data, &inputs.arrivals, measured_s);
    let waits = user_waits(&rate, data);
    let routes: Vec<RouteFigures> = inputs
        .routes
        .iter()
        .enumerate()
        .map(|(place, name)| route(&inputs, measurements, place, name, measured_s, waits))
        .collect();
    let requests: u64 = measurements.sent.iter().sum();
    let reconciled = reconcile(&inputs, measurements);
    let gone = gone(data, measurements);
    let is_gone = gone.is_some() || !inputs.partial.is_empty();
    let mut plan = inputs.plan;
    plan.drain.took_ms = data.drained.as_millis() as u64;
    let response = measurements.sum(None, |series| &series.response);
    let mut shard = ShardFigures {
        index: inputs.shard.0,
        count: inputs.shard.1,
        started: humantime::format_rfc3339_millis(data.start.wall_clock).to_string(),
        scheduled: data.recorded.ledger.scheduled + data.recorded.warm_up.scheduled,
        digest: String::new(),
    };
    shard.digest = digest(&shard, &plan);
    let verdicts =
        verdicts(inputs.scenario, inputs.verdict_route.as_deref(), inputs.routes, measurements, waits);
    let mut report = LoadReport {
        schema: LOAD_SCHEMA.to_owned(),
        tool: Tool { version: env!("CARGO_PKG_VERSION").to_owned() },
        scenario: ScenarioName::of_run(inputs.scenario).to_owned(),
        model: if inputs.open { Model::Open } else { Model::Closed },
        target: inputs.target,
        started: humantime::format_rfc3339_millis(data.start.wall_clock).to_string(),
        duration_ms: data.took.as_millis() as u64,
        state: LoadState::Complete,
        findings: Vec::new(),
        exit_code: 0,
        shards: vec![shard],
        rate,
        ledger: data.recorded.ledger,
        warm_up: data.recorded.warm_up,
        response: response_timing(&measurements.responses(None, waits)),
        successes: response_timing(&measurements.successes(None, waits)),
        observed: response_timing(&measurements.times(None, |series| &series.observed)),
        delay: timing(&measurements.delay),
        distorted: Vec::new(),
        service: response_timing(&measurements.times(None, |series| &series.service)),
        lateness: timing(&measurements.lateness),
        waiting: timing(&measurements.waiting),
        time_to_verdict: (verdicts.count() > 0).then(|| response_timing(&verdicts)),
        time_to_verdict_observed: (measurements.verdict_observed.count() > 0)
            .then(|| timing(&measurements.verdict_observed)),
        edge_added: (measurements.added.count() > 0)
            .then(|| EdgeAdded { timing: timing(&measurements.added), one_of: SAMPLED as u32 }),
        edge_cost: edge_cost(inputs.edge_samples, requests),
        routes,
        connections: ConnectionFigures {
            connect: timing(&measurements.connects),
            tls: (measurements.tls.count() > 0).then(|| timing(&measurements.tls)),
            bytes_sent: measurements.bytes_sent,
            bytes_received: measurements.bytes_received,
        },
        probes: inputs.probes,
        reconciled,
        timeline: timeline(&measurements.timeline, |from, to| {
            let due = |arrivals: &&Arrivals| arrivals.before(to) - arrivals.before(from);
            inputs.arrivals.iter().map(due).sum::<u64>() as f64
        }),
        thresholds: Vec::new(),
        faults: faults(inputs.faults, data),
        generator: Generator {
            cpu_s: data.cpu.as_secs_f64(),
            cpu_s_per_100k: per_100k(data.cpu.as_secs_f64(), requests),
            processors: crate::engine::processors(),
            starved: data.self_monitor.starved_share(),
            memory_first: data.self_monitor.memory_first,
            memory_last: data.self_monitor.memory_last,
            lag: timing(&data.self_monitor.lag),
            late_reads_measured: data.self_monitor.late_reads_measured,
            contention: contention_figures(&data.self_monitor.contention),
        },
        plan,
        comparison: None,
    };
    let tolerance = tolerance(&report.generator.contention, report.duration_ms);
    let distorted = distorted(&report, inputs.thresholds, tolerance);
    let mut invalid = invalid_reasons(&ValidityInputs {
        distorted: &distorted,
        response: &response,
        delay: &measurements.delay,
        lateness: &measurements.lateness,
        waiting: &measurements.waiting,
        lag: &data.self_monitor.lag,
        contention: &data.self_monitor.contention,
        overloaded: !report.rate.kept_up(),
        open: inputs.open,
        planned: data.planned,
        released: data.released,
        unanswered: unanswered(measurements),
        unfinished: report.ledger.dropped + report.ledger.open,
        requests: report.response.figures.count,
        saturated: data.self_monitor.starved_share(),
        timeout: Duration::from_millis(report.plan.timeout_ms),
        unsealed: unsealed(&report),
    });
    invalid.extend(own_limits(&report, data));
    report.distorted = distorted.into_iter().map(distortion).collect();
    report.thresholds = judge_report(&report, inputs.thresholds);
    let partial = partial_reasons(inputs.partial, gone, data);
    let imbalance = imbalance(&report, data);
    conclude(&mut report, imbalance, invalid, partial, inputs.unchecked);
    report.findings.extend(data.self_monitor.contention.competing_target());
    if !is_gone {
        report.findings.extend(without_result(&report, verdicts.count()));
    }
    report.exit_code =
        data.interrupted.map_or_else(|| exit_code(&report), edgeproof_cli::signals::Interruption::exit_code);
    report
}

/// Times to verdict. A session that never started got no verdict. In a mixed run, dropped collections count as
/// those of `edge-relay`, which waits for none.
fn verdicts(
    scenario: Option<ScenarioName>,
    verdict_route: Option<&str>,
    routes: &[String],
    measurements: &LoadMeasurements,
    waits: UserWaits,
) -> ResponseTimes {
    let mut verdicts = measurements.verdicts(waits);
    if verdicts.count() == 0 {
        return verdicts;
    }
    for series in measurements.series.iter().filter(|series| series.outcome == RequestOutcome::Dropped) {
        let route = routes.get(usize::from(series.route.0)).map(String::as_str);
        if scenario == Some(ScenarioName::Journey) || route.is_some() && route == verdict_route {
            verdicts.unanswered.add(&series.response);
        }
    }
    verdicts
}

fn unsealed(report: &LoadReport) -> (u64, u64) {
    match report.plan.seal {
        Seal::Opaque => (0, 0),
        Seal::Real { not_in_time, .. } => (not_in_time, report.routes.first().map_or(0, |route| route.sent)),
    }
}

fn per_100k(seconds: f64, requests: u64) -> f64 {
    if requests == 0 { 0.0 } else { seconds * 100_000.0 / requests as f64 }
}

fn edge_cost(moments: Vec<EdgeMoment>, requests: u64) -> Option<EdgeCost> {
    let (first, last) = (moments.first()?, moments.last()?);
    Some(EdgeCost {
        cpu_s: last.cpu_s,
        cpu_s_per_100k: per_100k(last.cpu_s, requests),
        memory_first: first.memory,
        memory_most: moments.iter().map(|moment| moment.memory).max().unwrap_or(0),
        memory_last: last.memory,
        moments,
    })
}

/// The built-in target.
pub fn embedded() -> LoadTarget {
    LoadTarget { kind: TargetKind::Embedded, command: None, edge_url: None, base_url: None }
}
