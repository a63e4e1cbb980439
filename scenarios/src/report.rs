//! From what was measured to the report: what is concluded, and the document. No I/O.

use std::time::Duration;

use edgeproof_reports::TargetKind;
use edgeproof_reports::json::Tool;
use edgeproof_reports::load::{
    Added, EdgeCost, EdgeMoment, Fault, Figures, Generator, LOAD_SCHEMA, Ledger, LoadReport, LoadState,
    LoadTarget, Model, OutcomeFigures, Plan, Rates, Reconciled, RouteFigures, Seal, ShardOf, ThresholdResult,
    Timeline, TimelineMoment, Timing,
};

use crate::engine::{EdgeSample, RunData};
use crate::measure::{
    self, Codes, Histogram, Measurements, Outcome, RouteId, SAMPLED, ThresholdInputs, ValidityInputs,
    invalid_reasons, judge,
};
use crate::plan::{Arrivals, Threshold};

/// What a report is made from, besides what was measured.
pub struct Facts<'a> {
    /// The scenario's name.
    pub scenario: &'a str,
    /// Rates are given.
    pub open: bool,
    /// What was loaded.
    pub target: LoadTarget,
    /// What was asked for.
    pub plan: Plan,
    /// Index and count of the shard.
    pub shard: (u32, u32),
    /// The routes, by their number.
    pub routes: &'a [String],
    /// The codes that answers may give.
    pub codes: &'a Codes,
    /// When operations of each workload are due, in the open model.
    pub arrivals: Vec<&'a Arrivals>,
    /// With whether each is there by default.
    pub thresholds: &'a [(Threshold, bool)],
    /// What the service behind counted, by route.
    pub arrived: Vec<(RouteId, u64)>,
    /// What was done to the service.
    pub faults: Vec<Fault>,
    /// What a launched edge cost.
    pub edge_samples: Vec<EdgeSample>,
    /// How late the generator may be.
    pub tolerance: Duration,
    /// Whether the generator kept up is not judged.
    pub unchecked: bool,
    /// The other way round: further findings that make the run partial.
    pub partial: Vec<String>,
}

/// What makes a target count as gone: no answer for so long before the end, though there were requests.
const GONE: Duration = Duration::from_secs(1);

/// Makes the report of a run.
pub fn build(facts: Facts<'_>, data: &RunData) -> LoadReport {
    let measurements = &data.recorded.measurements;
    let planned_s = facts.plan.measured_ms as f64 / 1000.0;
    // One that was ended early measured no longer than it took.
    let measured_s = if data.interrupted.is_some() {
        let warm_up = Duration::from_millis(facts.plan.warm_up_ms);
        planned_s.min(data.took.saturating_sub(data.drained).saturating_sub(warm_up).as_secs_f64())
    } else {
        planned_s
    };
    let routes: Vec<RouteFigures> = facts
        .routes
        .iter()
        .enumerate()
        .map(|(place, name)| route(&facts, measurements, place, name, measured_s))
        .collect();
    let response = sum(measurements, None, |series| &series.response);
    let requests: u64 = measurements.sent.iter().sum();
    let ledger = ledger(&data.recorded.ledger);
    let reconciled = reconcile(&facts, measurements);
    let gone = gone(data, measurements);
    let mut plan = facts.plan;
    plan.drain.took_ms = data.drained.as_millis() as u64;
    let mut report = LoadReport {
        schema: LOAD_SCHEMA.to_owned(),
        tool: Tool { version: env!("CARGO_PKG_VERSION").to_owned() },
        scenario: facts.scenario.to_owned(),
        model: if facts.open { Model::Open } else { Model::Closed },
        target: facts.target,
        started: humantime::format_rfc3339_millis(data.start.wall_clock).to_string(),
        duration_ms: data.took.as_millis() as u64,
        state: LoadState::Complete,
        findings: Vec::new(),
        exit_code: 0,
        shards: vec![ShardOf {
            index: facts.shard.0,
            count: facts.shard.1,
            started: humantime::format_rfc3339_millis(data.start.wall_clock).to_string(),
            scheduled: data.recorded.ledger.scheduled + data.recorded.warm_up.scheduled,
        }],
        rate: rates(&data.recorded.ledger, &facts.arrivals, measured_s),
        ledger,
        warm_up: self::ledger(&data.recorded.warm_up),
        response: timing(&response),
        service: timing(&sum(measurements, None, |series| &series.service)),
        lateness: timing(&measurements.lateness),
        waiting: timing(&measurements.waiting),
        time_to_verdict: (measurements.verdict.count() > 0).then(|| timing(&measurements.verdict)),
        edge_added: (measurements.added.count() > 0)
            .then(|| Added { timing: timing(&measurements.added), one_of: SAMPLED as u32 }),
        edge_cost: edge_cost(&facts.edge_samples, requests),
        routes,
        reconciled,
        timeline: timeline(&measurements.timeline, |from, to| {
            let due = |arrivals: &&Arrivals| arrivals.before(to) - arrivals.before(from);
            facts.arrivals.iter().map(due).sum::<u64>() as f64
        }),
        thresholds: Vec::new(),
        faults: faults(facts.faults, data),
        generator: Generator {
            cpu_s: data.cpu.as_secs_f64(),
            cpu_s_per_100k: per_100k(data.cpu.as_secs_f64(), requests),
            processors: crate::engine::processors(),
            starved: data.self_monitor.starved_share(),
            memory_first: data.self_monitor.memory_first,
            memory_last: data.self_monitor.memory_last,
            lag: timing(&data.self_monitor.lag),
        },
        plan,
        comparison: None,
    };
    let invalid = invalid_reasons(&ValidityInputs {
        lateness: &measurements.lateness,
        lag: &data.self_monitor.lag,
        tolerance: facts.tolerance,
        starved: data.self_monitor.starved_share(),
        open: facts.open,
        planned: data.planned,
        released: data.released,
        unsealed: unsealed(&report),
    });
    report.thresholds = judge_report(&report, facts.thresholds);
    let imbalance = imbalance(&report, data);
    let partial = facts
        .partial
        .into_iter()
        .chain(gone)
        .chain(data.interrupted.map(|signal| format!("{signal} ended it early")));
    report.state = match (imbalance.is_empty(), invalid.is_empty(), facts.unchecked) {
        (false, _, _) | (true, false, false) => LoadState::Invalid,
        (true, _, true) => LoadState::Unchecked,
        (true, true, false) => LoadState::Complete,
    };
    report.findings.extend(imbalance);
    report.findings.extend(invalid);
    let partial: Vec<String> = partial.collect();
    if !partial.is_empty() && report.state != LoadState::Invalid {
        report.state = LoadState::Partial;
    }
    report.findings.extend(partial);
    if report.ledger.open + report.ledger.dropped > 0 {
        report.findings.push(format!(
            "{} operations were never begun and {} still open at the end: they count at the age that they had",
            report.ledger.dropped, report.ledger.open
        ));
    }
    if report.ledger.without_verdict > 0 {
        let there = report.time_to_verdict.as_ref().map_or(0, |timing| timing.figures.count);
        report.findings.push(format!(
            "{} of {} sessions got no verdict: the times to a verdict are those of the others",
            report.ledger.without_verdict,
            there + report.ledger.without_verdict
        ));
    }
    report.exit_code =
        data.interrupted.map_or_else(|| exit_code(&report), edgeproof::cli::signals::Interruption::exit_code);
    report
}

/// What a run that no signal ended exits with.
pub fn exit_code(report: &LoadReport) -> u8 {
    let broken = report.thresholds.iter().any(|threshold| !threshold.holds);
    match report.state {
        // Its figures prove nothing, not even that a threshold is broken.
        LoadState::Invalid => 3,
        _ if broken => 1,
        LoadState::Partial => 3,
        LoadState::Complete | LoadState::Unchecked => 0,
    }
}

/// Percentiles, curve, distribution and histogram.
pub fn timing(times: &Histogram) -> Timing {
    use crate::plan::Quantile as Q;
    let at = |quantile| times.at(quantile);
    let figures = Figures {
        count: times.count(),
        min_us: times.min(),
        mean_us: (times.mean() * 10.0).round() / 10.0,
        p50_us: at(Q::P50),
        p90_us: at(Q::P90),
        p95_us: at(Q::P95),
        p99_us: at(Q::P99),
        p999_us: at(Q::P999),
        max_us: at(Q::Max),
    };
    let nines = (1..=24).map(|step| 1.0 - 10f64.powf(-f64::from(step) / 4.0));
    let shares = (0..10).map(|tenth| f64::from(tenth) / 10.0).chain(nines).filter(|share| {
        // Beyond one of all there is nothing to tell.
        (1.0 - share) * times.count() as f64 >= 1.0
    });
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    let mut curve: Vec<(f64, u64)> = shares.into_iter().map(|share| (share, times.value_at(share))).collect();
    if times.count() > 0 {
        curve.push((1.0, times.max()));
    }
    Timing { figures, curve, distribution: times.distribution(4), histogram: times.encode() }
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

fn sum(
    measurements: &Measurements,
    route: Option<RouteId>,
    of: impl Fn(&measure::OutcomeSeries) -> &Histogram,
) -> Histogram {
    let mut sum = Histogram::new();
    let measurements =
        measurements.series.iter().filter(|series| route.is_none_or(|route| route == series.route));
    measurements.for_each(|series| sum.add(of(series)));
    sum
}

fn ledger(ledger: &measure::OperationCounts) -> Ledger {
    let measure::OperationCounts {
        scheduled,
        answered,
        failed,
        dropped,
        open,
        unexpected,
        without_verdict,
        late: _,
    } = *ledger;
    Ledger { scheduled, answered, failed, dropped, open, unexpected, without_verdict }
}

fn rates(ledger: &measure::OperationCounts, arrivals: &[&Arrivals], measured_s: f64) -> Rates {
    let each = |count: u64| if measured_s > 0.0 { count as f64 / measured_s } else { 0.0 };
    let asked: f64 = arrivals
        .iter()
        .map(|arrivals| {
            arrivals.measured() as f64
                / arrivals.end().saturating_sub(arrivals.warm_up()).as_secs_f64().max(1e-9)
        })
        .sum();
    Rates {
        asked: (!arrivals.is_empty()).then_some(asked),
        begun: each(ledger.scheduled - ledger.dropped),
        // As it was to be, and in time: an error, or an answer to who was kept waiting until the load was over, is no throughput.
        delivered: each(ledger.answered - ledger.unexpected - ledger.late),
    }
}

fn route(
    facts: &Facts<'_>,
    measurements: &Measurements,
    place: usize,
    name: &str,
    measured_s: f64,
) -> RouteFigures {
    let id = RouteId(place as u8);
    let own = || measurements.series.iter().filter(|series| series.route == id);
    // As they were to be: an error is no throughput.
    let answered: u64 = own()
        .filter(|series| series.expected && matches!(series.outcome, Outcome::Answer { .. }))
        .map(|series| series.response.count())
        .sum();
    let mut outcomes: Vec<OutcomeFigures> = own()
        .map(|series| OutcomeFigures {
            outcome: facts.codes.label(series.outcome),
            expected: series.expected,
            count: series.response.count(),
            response: timing(&series.response),
            service: timing(&series.service),
        })
        .collect();
    outcomes.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.outcome.cmp(&other.outcome)));
    RouteFigures {
        route: name.to_owned(),
        sent: measurements.sent.get(place).copied().unwrap_or(0),
        unanswered: measurements.unanswered.get(place).copied().unwrap_or(0),
        errors: own().filter(|series| !series.expected).map(|series| series.response.count()).sum(),
        answered_per_s: if measured_s > 0.0 { answered as f64 / measured_s } else { 0.0 },
        response: timing(&sum(measurements, Some(id), |series| &series.response)),
        service: timing(&sum(measurements, Some(id), |series| &series.service)),
        outcomes,
    }
}

/// Judges thresholds on a report's own figures: of one run, or of the sum of several.
pub fn judge_report(report: &LoadReport, thresholds: &[(Threshold, bool)]) -> Vec<ThresholdResult> {
    let histogram = |timing: &Timing| Histogram::decode(&timing.histogram).ok();
    let of = |route: Option<&str>| {
        let verdict = report.time_to_verdict.as_ref().and_then(histogram);
        let Some(name) = route else {
            // The worse of requests and operations: the many questions of a session must not hide that it came to nothing.
            let (requests, operations) = (
                (report.errors(), report.response.figures.count),
                (report.ledger.wrong(), report.ledger.scheduled),
            );
            let part = |(wrong, all): (u64, u64)| if all == 0 { 0.0 } else { wrong as f64 / all as f64 };
            let (errors, count) = if part(operations) > part(requests) { operations } else { requests };
            return Some(ThresholdInputs {
                response: histogram(&report.response)?,
                count,
                errors,
                rate: report.rate.delivered,
                verdict,
                without_verdict: report.ledger.without_verdict,
            });
        };
        let route = report.routes.iter().find(|route| route.route == name)?;
        Some(ThresholdInputs {
            response: histogram(&route.response)?,
            count: route.response.figures.count,
            errors: route.errors,
            rate: route.answered_per_s,
            verdict,
            without_verdict: 0,
        })
    };
    judge(thresholds.iter().map(|(threshold, by_default)| (threshold, *by_default)), of)
}

fn reconcile(facts: &Facts<'_>, measurements: &Measurements) -> Vec<Reconciled> {
    facts
        .arrived
        .iter()
        .map(|(route, arrived)| {
            let place = usize::from(route.0);
            let sent = measurements.sent.get(place).copied().unwrap_or(0);
            let unanswered = measurements.unanswered.get(place).copied().unwrap_or(0);
            let route = facts.routes.get(place).cloned().unwrap_or_default();
            // What an edge answers by itself, because its service is gone, never arrives.
            let by_edge = measurements.unrelayed.get(place).copied().unwrap_or(0);
            let agrees =
                measure::OperationCounts::reconcile(&route, sent, unanswered + by_edge, *arrived).is_ok();
            Reconciled { route, sent, unanswered: unanswered + by_edge, arrived: *arrived, agrees }
        })
        .collect()
}

fn imbalance(report: &LoadReport, data: &RunData) -> Vec<String> {
    let mut found = Vec::new();
    for ledger in [&data.recorded.ledger, &data.recorded.warm_up] {
        found.extend(ledger.balance().err().map(|imbalance| imbalance.to_string()));
    }
    let scheduled = data.recorded.ledger.scheduled + data.recorded.warm_up.scheduled;
    if scheduled != data.released {
        found.push(format!(
            "the pacer let {} operations begin, and {scheduled} are accounted for",
            data.released
        ));
    }
    found.extend(report.reconciled.iter().filter(|counted| !counted.agrees).map(|counted| {
        format!(
            "{}: {} were sent, {} of them without an answer of the service, but it counted {}",
            counted.route, counted.sent, counted.unanswered, counted.arrived
        )
    }));
    found
}

fn gone(data: &RunData, measurements: &Measurements) -> Option<String> {
    let unanswered: u64 = measurements.unanswered.iter().sum();
    let end = data.took.saturating_sub(data.drained);
    let silent = end.checked_sub(data.last_answer)?;
    if data.interrupted.is_some() || unanswered == 0 || silent < GONE.min(end / 4) {
        return None;
    }
    Some(if data.last_answer.is_zero() {
        "the target never answered".to_owned()
    } else {
        format!("the target was gone from {:.1} s on and did not come back", data.last_answer.as_secs_f64())
    })
}

fn faults(faults: Vec<Fault>, data: &RunData) -> Vec<Fault> {
    let measurements = &data.recorded.measurements;
    let last_outage = data.last_outage.map_or(0, |at| at.as_millis() as u64);
    let end = data.took.saturating_sub(data.drained).as_millis() as u64;
    let recovery = |fault: Fault| {
        let Some(ended) = fault.ended_ms else { return fault };
        let recovered = last_outage + 250 < end && ended < end;
        Fault {
            hit: measurements.unrelayed.iter().chain(&measurements.unanswered).sum(),
            recovery_ms: recovered.then(|| last_outage.saturating_sub(ended)),
            ..fault
        }
    };
    faults.into_iter().map(recovery).collect()
}

fn edge_cost(samples: &[EdgeSample], requests: u64) -> Option<EdgeCost> {
    let (first, last) = (samples.first()?, samples.last()?);
    let moments = samples
        .iter()
        .map(|sample| EdgeMoment {
            at_ms: sample.at.as_millis() as u64,
            cpu_s: sample.cpu.as_secs_f64(),
            memory: sample.memory,
        })
        .collect();
    Some(EdgeCost {
        cpu_s: last.cpu.as_secs_f64(),
        cpu_s_per_100k: per_100k(last.cpu.as_secs_f64(), requests),
        memory_first: first.memory,
        memory_most: samples.iter().map(|sample| sample.memory).max().unwrap_or(0),
        memory_last: last.memory,
        moments,
    })
}

/// The run, moment by moment; `asked` says how many operations were due from one time to another.
pub fn timeline(timeline: &measure::Timeline, asked: impl Fn(Duration, Duration) -> f64) -> Timeline {
    let width = timeline.width();
    let micros = |time: Option<Duration>| time.map(|time| time.as_micros() as u64);
    let document = |(place, moment): (usize, &measure::TimelineBucket)| TimelineMoment {
        asked: asked(width * place as u32, width * (place as u32 + 1)),
        due: moment.due,
        ended: moment.ended,
        errors: moment.errors,
        p50_us: micros(moment.quantile(0.5)),
        p99_us: micros(moment.quantile(0.99)),
        steps: moment.steps.clone(),
    };
    let moments = timeline.buckets().iter().enumerate().map(document).collect();
    Timeline { width_ms: width.as_millis() as u64, moments }
}

/// A target of our own making.
pub fn embedded() -> LoadTarget {
    LoadTarget { kind: TargetKind::Embedded, command: None, edge_url: None, base_url: None }
}
