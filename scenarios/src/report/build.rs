use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use edgeproof_cli::signals::Interruption;
use edgeproof_reports::load::{
    ClockFigures, ConnectionFigures, EdgeAdded, EdgeCost, EdgeMoment, Generator, InjectedFault, LOAD_SCHEMA,
    LoadReport, LoadState, LoadTarget, Model, OutcomeFigures, Percentiles, PlannedLoad, ProbeFigures,
    Quantile, Reconciled, ReferenceClock, RouteFigures, ShardFigures, Timing, UnknownClock,
};
use edgeproof_reports::{ReportedSpec, Tool};
use sha2::{Digest as _, Sha256};

use super::distortion::distorted;
use super::findings::{agrees, conclude, faults, user_waits};
use super::thresholds::judge_report;
use crate::engine::{LoadModel, RunData};
use crate::measure::{
    Histogram, LoadMeasurements, OutcomeSeries, RequestCounts, RequestOutcome, ResponseTimes, RouteId,
    SAMPLED, UserWaits, clock_figures, estimate_by_dates,
};
use crate::plan::{ScenarioName, Threshold};

/// Inputs of a report other than the measured data.
pub struct ReportInputs<'a> {
    /// The scenario; `None` for a mixed run.
    pub scenario: Option<ScenarioName>,
    /// The interface whose tables the run used.
    pub spec: Option<ReportedSpec>,
    /// The target.
    pub target: LoadTarget,
    /// The plan.
    pub plan: PlannedLoad,
    /// Index and count of the shard.
    pub shard: (u32, u32),
    /// The route of verdicts, if the run has it.
    pub verdict_route: Option<RouteId>,
    /// Thresholds, and whether each is a default.
    pub thresholds: &'a [(Threshold, bool)],
    /// Requests counted by the mock service, by route.
    pub arrived: Vec<(RouteId, u64)>,
    /// Requests sent before the run.
    pub probes: Vec<ProbeFigures>,
    /// Injected faults.
    pub faults: Vec<InjectedFault>,
    /// Skips the check whether the generator kept up.
    pub unchecked: bool,
    /// Findings that make the run partial.
    pub partial: Vec<String>,
}

/// Builds the report of a run.
pub fn build(inputs: ReportInputs<'_>, data: &RunData) -> LoadReport {
    let measurements = &data.recorded;
    let arrivals = if let LoadModel::Open(arrivals) = &data.run.model { Some(arrivals) } else { None };
    let planned_s = inputs.plan.measured_ms as f64 / 1000.0;
    // An interrupted run measured at most the time it took.
    let measured_s = if data.interrupted.is_some() {
        let warm_up = Duration::from_millis(inputs.plan.warm_up_ms);
        planned_s.min(data.took.saturating_sub(data.drained).saturating_sub(warm_up).as_secs_f64())
    } else {
        planned_s
    };
    let rate = data.rates(arrivals, measured_s);
    let waits = user_waits(&rate, data);
    let [response, successes, observed, service] = timings(measurements, |_| true, waits);
    let mut plan = inputs.plan;
    plan.drain.took_ms = data.drained.as_millis() as u64;
    let started = humantime::format_rfc3339_millis(data.started).to_string();
    let mut shard = ShardFigures {
        index: inputs.shard.0,
        count: inputs.shard.1,
        started: started.clone(),
        scheduled: data.recorded.ledger.scheduled + data.recorded.warm_up.scheduled,
        digest: String::new(),
        clock: (inputs.shard.1 > 1).then(|| clock(data)),
    };
    shard.digest = digest(&shard, &plan);
    let mut timeline = measurements.timeline.clone();
    timeline.plan(|from, to| arrivals.map_or(0, |of| of.before(to) - of.before(from)) as f64);
    let verdicts = verdicts(inputs.scenario, inputs.verdict_route, data, waits);
    let some = |times: &Histogram| (times.count() > 0).then(|| timing(times));
    let monitor = &data.self_monitor;
    let routes = data.run.routes.iter().enumerate();
    let report = LoadReport {
        schema: LOAD_SCHEMA.to_owned(),
        tool: Tool { version: env!("CARGO_PKG_VERSION").to_owned() },
        spec: inputs.spec,
        scenario: ScenarioName::of_run(inputs.scenario).to_owned(),
        model: if arrivals.is_some() { Model::Open } else { Model::Closed },
        target: inputs.target,
        started,
        duration_ms: data.took.as_millis() as u64,
        state: LoadState::Complete,
        findings: Vec::new(),
        exit_code: 0,
        shards: vec![shard],
        rate,
        ledger: data.recorded.ledger,
        warm_up: data.recorded.warm_up,
        response,
        successes,
        observed,
        delay: timing(&measurements.delay),
        distorted: Vec::new(),
        service,
        lateness: timing(&measurements.lateness),
        waiting: timing(&measurements.waiting),
        time_to_verdict: (verdicts.count() > 0).then(|| response_timing(&verdicts)),
        time_to_verdict_observed: some(&measurements.verdict_observed),
        edge_added: some(&measurements.added).map(|timing| EdgeAdded { timing, one_of: SAMPLED as u32 }),
        edge_cost: edge_cost(&data.self_monitor.edge),
        routes: routes.map(|(place, name)| route(data, place, name, measured_s, waits)).collect(),
        connections: ConnectionFigures {
            connect: timing(&measurements.connects),
            tls: some(&measurements.tls),
            bytes_sent: measurements.bytes_sent,
            bytes_received: measurements.bytes_received,
        },
        probes: inputs.probes,
        reconciled: inputs.arrived.iter().map(|(route, arrived)| reconcile(data, *route, *arrived)).collect(),
        timeline: timeline.figures(),
        thresholds: Vec::new(),
        faults: faults(inputs.faults, data),
        generator: Generator {
            cpu_s: data.cpu.as_secs_f64(),
            lag: timing(&monitor.lag),
            ..monitor.generator.clone()
        },
        plan,
        comparison: None,
    };
    let report = finish(report, inputs.thresholds, |report| {
        conclude(report, data, inputs.partial, inputs.unchecked, verdicts.count());
    });
    LoadReport { exit_code: data.interrupted.map_or(report.exit_code, Interruption::exit_code), ..report }
}

/// Adds to the figures of a run, or of a sum of shards, what follows from them. `conclude` sets the state and the
/// findings.
pub fn finish(
    mut report: LoadReport,
    thresholds: &[(Threshold, bool)],
    conclude: impl FnOnce(&mut LoadReport),
) -> LoadReport {
    let requests = report.routes.iter().map(|route| route.sent).sum::<u64>();
    let per_100k = |seconds: f64| if requests == 0 { 0.0 } else { seconds * 1e5 / requests as f64 };
    report.generator.cpu_s_per_100k = per_100k(report.generator.cpu_s);
    if let Some(cost) = &mut report.edge_cost {
        cost.cpu_s_per_100k = per_100k(cost.cpu_s);
    }
    for route in &mut report.routes {
        let order = |one: &OutcomeFigures, other: &OutcomeFigures| {
            other.count.cmp(&one.count).then_with(|| one.outcome.cmp(&other.outcome))
        };
        route.outcomes.sort_by(order);
    }
    report.distorted = distorted(&report, thresholds);
    report.thresholds = judge_report(&report, thresholds);
    conclude(&mut report);
    // The thresholds of shards are judged on the sum only.
    let judges = report.as_shard().is_none();
    let broken = judges && report.thresholds.iter().any(|threshold| !threshold.holds);
    report.exit_code = match report.state {
        // The figures of an invalid run prove nothing, not even that a threshold is broken.
        LoadState::Invalid => 3,
        _ if broken => 1,
        LoadState::Partial => 3,
        LoadState::Complete | LoadState::Unchecked => 0,
    };
    report
}

/// The clock of this machine, compared with the target's.
fn clock(data: &RunData) -> ClockFigures {
    let estimated = match data.run.shared_route {
        None => Err(UnknownClock::OwnTarget),
        Some(_) => estimate_by_dates(&data.recorded.dates.windows()),
    };
    clock_figures(estimated, ReferenceClock::Target, data.started, data.step_us)
}

/// Digest of what tells a shard from the others of its run. It finds edited reports, not forged ones.
pub fn digest(shard: &ShardFigures, plan: &PlannedLoad) -> String {
    let ShardFigures { index, count, scheduled, .. } = shard;
    let text = format!("edgeproof-load shard {index} of {count}, seed {}, {scheduled} operations", plan.seed);
    STANDARD_NO_PAD.encode(&Sha256::digest(text)[..12])
}

/// Response times of these series, of those with the expected answer, as observed, and service times.
fn timings(
    measurements: &LoadMeasurements,
    takes: impl Fn(&OutcomeSeries) -> bool,
    waits: UserWaits,
) -> [Timing; 4] {
    [
        measurements.responses(&takes, waits),
        measurements.responses(|series| series.expected && takes(series), waits),
        measurements.times(&takes, |series| &series.observed),
        measurements.times(&takes, |series| &series.service),
    ]
    .map(|times| response_timing(&times))
}

fn route(data: &RunData, place: usize, name: &str, measured_s: f64, waits: UserWaits) -> RouteFigures {
    let measurements = &data.recorded;
    let id = RouteId(place as u8);
    let own = || measurements.series.iter().filter(|series| series.route == id);
    let count = |takes: fn(&OutcomeSeries) -> bool| -> u64 {
        own().filter(|series| takes(series)).map(|series| series.response.count()).sum()
    };
    // An unexpected answer is no throughput.
    let answered = count(|series| series.expected && series.outcome.is_answer());
    let [response, successes, observed, service] = timings(measurements, |series| series.route == id, waits);
    let RequestCounts { sent, unanswered, .. } = measurements.counts_of(place);
    let outcome = |series: &OutcomeSeries| {
        let timing = |times: &Histogram| {
            let mut split = ResponseTimes::default();
            split.part(series.outcome.is_answer()).add(times);
            response_timing(&split)
        };
        OutcomeFigures {
            outcome: data.run.codes.label(series.outcome),
            expected: series.expected,
            count: series.response.count(),
            response: timing(&series.response),
            service: timing(&series.service),
        }
    };
    RouteFigures {
        route: name.to_owned(),
        sent,
        unanswered,
        errors: count(|series| !series.expected),
        answered_per_s: if measured_s > 0.0 { answered as f64 / measured_s } else { 0.0 },
        response,
        successes,
        observed,
        service,
        outcomes: own().map(outcome).collect(),
    }
}

fn reconcile(data: &RunData, route: RouteId, arrived: u64) -> Reconciled {
    let place = usize::from(route.0);
    let RequestCounts { sent, unanswered, unrelayed } = data.recorded.counts_of(place);
    // The edge may have answered without a request to the service.
    let unanswered = unanswered + unrelayed;
    let route = data.run.routes.get(place).cloned().unwrap_or_default();
    Reconciled { route, sent, unanswered, arrived, agrees: agrees(sent, unanswered, arrived) }
}

/// Times to verdict. A session that never started got no verdict. In a mixed run, dropped collections count as
/// those of `edge-relay`, which waits for none.
fn verdicts(
    scenario: Option<ScenarioName>,
    verdict_route: Option<RouteId>,
    data: &RunData,
    waits: UserWaits,
) -> ResponseTimes {
    let measurements = &data.recorded;
    let mut verdicts = measurements.verdicts(waits);
    if verdicts.count() == 0 {
        return verdicts;
    }
    for series in measurements.series.iter().filter(|series| series.outcome == RequestOutcome::Dropped) {
        if scenario == Some(ScenarioName::Journey) || verdict_route == Some(series.route) {
            verdicts.unanswered.add(&series.response);
        }
    }
    verdicts
}

fn edge_cost(moments: &[EdgeMoment]) -> Option<EdgeCost> {
    let (first, last) = (moments.first()?, moments.last()?);
    Some(EdgeCost {
        cpu_s: last.cpu_s,
        cpu_s_per_100k: 0.0,
        memory_first: first.memory,
        memory_most: moments.iter().map(|moment| moment.memory).max().unwrap_or(0),
        memory_last: last.memory,
        moments: moments.to_vec(),
    })
}

/// Percentiles, curve, distribution and histogram of times that all have an answer.
fn timing(times: &Histogram) -> Timing {
    response_timing(&ResponseTimes::from(times.clone()))
}

/// Percentiles, curve, distribution and histogram. Samples without an answer rank last.
pub fn response_timing(times: &ResponseTimes) -> Timing {
    let at = |quantile| times.at(quantile).us;
    let all = times.all();
    let answered = &times.answered;
    let unanswered = times.unanswered.count();
    let figures = Percentiles {
        count: all.count(),
        unanswered,
        min_us: if answered.count() > 0 { answered.min() } else { all.min() },
        mean_us: (all.mean() * 10.0).round() / 10.0,
        p50_us: at(Quantile::P50),
        p90_us: at(Quantile::P90),
        p95_us: at(Quantile::P95),
        p99_us: at(Quantile::P99),
        p999_us: at(Quantile::P999),
        max_us: at(Quantile::Max),
    };
    let nines = (1..=24).map(|step| 1.0 - 10f64.powf(-f64::from(step) / 4.0));
    let shares = (0..10).map(|tenth| f64::from(tenth) / 10.0).chain(nines).filter(|share| {
        // No point beyond the slowest request, nor one whose time is unknown.
        (1.0 - share) * all.count() as f64 >= 1.0 && !figures.is_lower_bound(*share)
    });
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    let point = |share: f64| (share, answered.value_at_rank(Percentiles::rank(share, all.count())));
    let mut curve: Vec<(f64, u64)> = shares.into_iter().map(point).collect();
    if all.count() > 0 && unanswered == 0 {
        curve.push((1.0, answered.max()));
    }
    Timing {
        figures,
        curve,
        distribution: answered.distribution(4),
        histogram: all.encode(),
        unanswered_histogram: if unanswered > 0 { times.unanswered.encode() } else { String::new() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_changes_the_digest() {
        let shard = ShardFigures {
            index: 0,
            count: 3,
            started: String::new(),
            scheduled: 75,
            digest: String::new(),
            clock: None,
        };
        let plan = PlannedLoad { seed: 7, ..PlannedLoad::default() };
        let own = digest(&shard, &plan);
        assert_eq!(own, digest(&ShardFigures { digest: own.clone(), ..shard.clone() }, &plan));
        for other in [
            ShardFigures { index: 1, ..shard.clone() },
            ShardFigures { count: 4, ..shard.clone() },
            ShardFigures { scheduled: 76, ..shard.clone() },
        ] {
            assert_ne!(own, digest(&other, &plan));
        }
        assert_ne!(own, digest(&shard, &PlannedLoad { seed: 8, ..plan }));
    }
}
