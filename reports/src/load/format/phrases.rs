//! Phrases about a load run that its formats share.

use crate::load::model::{
    ClockFigures, ClockOffset, ConnectionFigures, Difference, EdgeCost, InjectedFault, Ledger, LoadReport,
    Model, Percentiles, ProbeFigures, Rates, Reconciled, Seal, ShardFigures, ThresholdResult, Timing,
};
use crate::model::TargetKind;
use crate::text::escape::one_line;
use crate::text::units::{count, given_duration, given_rate, micros, percent, rate, significant, size};

/// A row of the percentile table.
pub(super) struct PercentileRow {
    pub(super) name: String,
    /// Whether the row belongs to the route above it.
    pub(super) of_route: bool,
    pub(super) count: u64,
    pub(super) cells: [String; 6],
}

/// Target of the load: ``launched edge `node edge.mjs` http://127.0.0.1:8080/``.
pub(super) fn target(report: &LoadReport) -> String {
    let target = &report.target;
    let mut words = Vec::new();
    match (&target.edge_url, &target.base_url) {
        (Some(_), _) => words.push(format!("{} edge", target.kind.name())),
        (None, None) => words.push("embedded service".to_owned()),
        (None, Some(_)) => {}
    }
    words.extend(target.command.as_ref().map(|command| format!("`{}`", one_line(command))));
    words.extend(target.edge_url.as_ref().map(|url| one_line(url).into_owned()));
    words.extend(target.base_url.as_ref().map(|url| format!("verdicts from {}", one_line(url))));
    words.join(" ")
}

/// `shard 1: clock 200 ms ± 12.0 ms ahead of the target's`, for each shard with figures of its clock.
pub(super) fn clocks(report: &LoadReport) -> impl Iterator<Item = String> {
    let known = report.shards.iter().filter_map(|shard| shard.clock.as_ref().map(|clock| (shard, clock)));
    known.map(|(ShardFigures { index, .. }, clock)| format!("shard {index}: {}", self::clock(clock)))
}

fn clock(clock: &ClockFigures) -> String {
    let step = match clock.step_us {
        0 => String::new(),
        step => format!("; a step of {}{}", if step < 0 { "-" } else { "" }, micros(step.unsigned_abs())),
    };
    match &clock.offset {
        ClockOffset::Unknown { reason } => format!("clock unknown: {}{step}", reason.text()),
        ClockOffset::Known { reference, ahead_us, uncertainty_us, drift_ppm, drift_uncertainty_ppm } => {
            let (ahead, uncertainty) = (micros(ahead_us.unsigned_abs()), micros(*uncertainty_us));
            let side = if *ahead_us < 0 { "behind" } else { "ahead of" };
            let drift = drift_ppm.zip(*drift_uncertainty_ppm);
            // A drift within its uncertainty says nothing.
            let drift = drift.filter(|(drift, uncertainty)| drift.abs() > *uncertainty);
            let drift = drift.map_or(String::new(), |(drift, uncertainty)| {
                let sign = if drift < 0.0 { "-" } else { "" };
                let (drift, uncertainty) = (percent(drift.abs() / 1e6), percent(uncertainty / 1e6));
                format!(", drift {sign}{drift} ± {uncertainty}")
            });
            format!("clock {ahead} ± {uncertainty} {side} {}{drift}{step}", reference.name())
        }
    }
}

/// Stages of the open model, or users of the closed model.
pub(super) fn plan(report: &LoadReport) -> String {
    let users = count(u64::from(report.plan.users));
    if report.model == Model::Closed {
        return format!("closed model: {users} users, each starts an operation when its previous one ends");
    }
    let stages = report.plan.stages.iter().map(|stage| {
        let time = given_duration(stage.time_ms);
        if (stage.from - stage.to).abs() < 1e-9 {
            format!("{} for {time}", given_rate(stage.to))
        } else {
            format!("{} to {} in {time}", given_rate(stage.from), given_rate(stage.to))
        }
    });
    format!("open model: {}; {users} users", stages.collect::<Vec<_>>().join(", "))
}

/// `planned 500/s, started 500/s, delivered 499/s`.
pub(super) fn rates(rates: &Rates) -> String {
    let planned = rates.asked.map_or(String::new(), |planned| format!("planned {}, ", rate(planned)));
    format!("{planned}started {}, delivered {}", rate(rates.begun), rate(rates.delivered))
}

/// `1,000 scheduled = 998 answered + 1 failed + 0 dropped + 1 open`.
pub(super) fn ledger(ledger: &Ledger) -> String {
    format!(
        "{} scheduled = {} answered + {} failed + {} dropped + {} open",
        count(ledger.scheduled),
        count(ledger.answered),
        count(ledger.failed),
        count(ledger.dropped),
        count(ledger.open)
    )
}

/// `POST /v1/signals: 1,000 sent, 999 counted by the service (ok)`.
pub(super) fn reconciled(counted: &Reconciled) -> String {
    let Reconciled { route, sent, arrived, agrees, .. } = counted;
    let verdict = if *agrees { "ok" } else { "MISMATCH" };
    let route = one_line(route);
    format!("{route}: {} sent, {} counted by the service ({verdict})", count(*sent), count(*arrived))
}

/// Rows of the percentile table. Routes are never mixed: a percentile over collections and polls says nothing.
pub(super) fn rows(report: &LoadReport) -> Vec<PercentileRow> {
    let row = |name: &str, of_route: bool, figures: &Percentiles, cells: [String; 6]| PercentileRow {
        name: name.to_owned(),
        of_route,
        count: figures.count,
        cells,
    };
    let plain =
        |name: &str, of_route: bool, figures: &Percentiles| row(name, of_route, figures, figures.row());
    let mut rows = Vec::new();
    for route in &report.routes {
        let all = &route.response.figures;
        rows.push(row(&route.route, false, all, all.marked_row(&route.observed.figures)));
        rows.push(plain("successes", true, &route.successes.figures));
        rows.push(plain("service time", true, &route.service.figures));
    }
    if let Some(Timing { figures, .. }) = &report.time_to_verdict {
        let observed = report.time_to_verdict_observed.as_ref().map_or(figures, |timing| &timing.figures);
        rows.push(row("time to verdict", false, figures, figures.marked_row(observed)));
    }
    rows.extend(
        report.edge_added.as_ref().map(|added| plain("edge-added latency", false, &added.timing.figures)),
    );
    if report.waiting.figures.max_us > 1000 {
        rows.push(plain("wait for a connection", false, &report.waiting.figures));
    }
    if report.connections.connect.figures.count > 0 {
        rows.push(plain("connection set-up", false, &report.connections.connect.figures));
    }
    rows.extend(report.connections.tls.as_ref().map(|tls| plain("TLS handshake", false, &tls.figures)));
    if report.model == Model::Open {
        rows.push(plain("generator delay", false, &report.delay.figures));
    }
    rows
}

/// Explanations of the percentile table.
pub(super) fn legend(rows: &[PercentileRow]) -> Vec<&'static str> {
    let has = |marked: fn(&str) -> bool| rows.iter().flat_map(|row| &row.cells).any(|cell| marked(cell));
    let mut legend = vec![
        "First row of a route: all requests, from their intended start. Service time counts from sending.",
    ];
    if has(|cell| cell.starts_with('≥')) {
        legend.push("≥: at least. Requests without an answer rank last, and so do those that a slow target kept waiting for a user.");
    }
    if has(|cell| cell.ends_with('*')) {
        legend.push("*: the generator added more than 5 % to this value; its delay is left out.");
    }
    legend
}

/// `p99<250ms: 12.3 ms, 95.1 % within the limit`.
pub(super) fn threshold(threshold: &ThresholdResult) -> String {
    let route = threshold.route.as_ref().map_or(String::new(), |route| format!("{} ", one_line(route)));
    let by_default = if threshold.by_default { " (default)" } else { "" };
    let observed = threshold.observed.as_deref().unwrap_or("no data");
    let margin = match threshold.margin {
        None if threshold.at_least => ", which is only a lower bound".to_owned(),
        None => String::new(),
        // An upper limit: a lower one is never exceeded by more than all of it.
        Some(margin) if margin < -1.0 => format!(", {} times the limit", significant(1.0 - margin)),
        Some(margin) if margin < 0.0 => format!(", {} beyond the limit", percent(-margin)),
        Some(margin) => format!(", {} within the limit", percent(margin)),
    };
    format!("{route}{}{by_default}: {}{margin}", one_line(&threshold.rule), one_line(observed))
}

/// `probes before the run: 8 × POST /v1/signals (latency)`; none without probes.
pub(super) fn probes(probes: &[ProbeFigures]) -> Option<String> {
    let each = probes.iter().map(|probe| {
        format!("{} × {} ({})", count(probe.sent), one_line(&probe.route), one_line(&probe.purpose))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty())
        .then(|| format!("probes before the run, not included in other figures: {}", each.join(", ")))
}

/// `connections: 32 opened, 1.20 MiB sent, 640 KiB received`; none without connections.
pub(super) fn connections(connections: &ConnectionFigures) -> Option<String> {
    let opened = connections.connect.figures.count;
    (opened > 0).then(|| {
        format!(
            "connections: {} opened, {} sent, {} received",
            count(opened),
            size(connections.bytes_sent),
            size(connections.bytes_received)
        )
    })
}

/// `generator: 1.20 CPU s per 100,000 requests (service included), 2 processors, memory 20.0 MiB to 21.0 MiB`.
pub(super) fn generator(report: &LoadReport) -> String {
    let generator = &report.generator;
    let included = match (&report.target.kind, &report.target.edge_url) {
        (TargetKind::Embedded, Some(_)) => " (edge and service included)",
        (TargetKind::Embedded, None) | (TargetKind::Launched, _) => " (service included)",
        (TargetKind::Attached, _) => "",
    };
    format!(
        "generator: {} CPU s per 100,000 requests{included}, {} processors, memory {} to {}",
        significant(generator.cpu_s_per_100k),
        generator.processors,
        size(generator.memory_first),
        size(generator.memory_last)
    )
}

/// `edge: 2.10 CPU s per 100,000 requests, memory 40.0 MiB to 44.0 MiB, peak 48.0 MiB`.
pub(super) fn edge(cost: &EdgeCost) -> String {
    format!(
        "edge: {} CPU s per 100,000 requests, memory {} to {}, peak {}",
        significant(cost.cpu_s_per_100k),
        size(cost.memory_first),
        size(cost.memory_last),
        size(cost.memory_most)
    )
}

/// `sealing: 210 µs of CPU time per collection, all on time`; none without sealing.
pub(super) fn sealing(report: &LoadReport) -> Option<String> {
    let Seal::Real { cost_us, not_in_time } = report.plan.seal else { return None };
    let late = match not_in_time {
        0 => "all on time".to_owned(),
        late => format!("{} TOO LATE", count(late)),
    };
    Some(format!("sealing: {} of CPU time per collection, {late}", micros(cost_us as u64)))
}

/// `service down at 10s for 2s, 31 requests affected: recovered within 310 ms`.
pub(super) fn fault(fault: &InjectedFault) -> String {
    let hit = if fault.hit > 0 { format!(", {} requests affected", count(fault.hit)) } else { String::new() };
    let recovered = match (fault.ended_ms, fault.recovery_ms) {
        (None, _) => String::new(),
        (Some(_), _) if fault.hit == 0 => ": no request affected".to_owned(),
        (Some(_), Some(0)) => ": recovered at once".to_owned(),
        (Some(_), Some(ms)) => format!(": recovered within {}", micros(ms * 1000)),
        (Some(_), None) => ": did not recover".to_owned(),
    };
    format!("{}{hit}{recovered}", one_line(&fault.fault))
}

/// `p99: 12.3 ms, was 11.9 ms (+3.36 %, noise 5.00 %): within noise`.
pub(super) fn difference(difference: &Difference) -> String {
    let value = |value: f64| {
        if difference.figure.starts_with("CPU") { significant(value) } else { micros(value as u64) }
    };
    // Noise of 100 % and more only means too few samples.
    let noise = if difference.noise < 1.0 {
        format!("noise {}", percent(difference.noise))
    } else {
        "too few samples".to_owned()
    };
    let sign = if difference.change < 0.0 { '-' } else { '+' };
    format!(
        "{}: {}, was {} ({sign}{}, {noise}): {}",
        difference.figure,
        value(difference.now),
        value(difference.before),
        percent(difference.change.abs()),
        difference.verdict
    )
}
