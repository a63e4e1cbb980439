//! Phrases about a load run that its formats share.

use crate::load::model::{
    Difference, EdgeCost, InjectedFault, Ledger, LoadReport, Model, Percentiles, Rates, Reconciled, Seal,
    ThresholdResult,
};
use crate::model::TargetKind;
use crate::text::escape::one_line;
use crate::text::units::{count, duration, mebibytes, micros, rate};

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

/// Stages of the open model, or users of the closed model.
pub(super) fn plan(report: &LoadReport) -> String {
    let users = count(u64::from(report.plan.users));
    if report.model == Model::Closed {
        return format!("closed model: {users} users, each starts an operation when its previous one ends");
    }
    let stages = report.plan.stages.iter().map(|stage| {
        let time = duration(stage.time_ms);
        if (stage.from - stage.to).abs() < 1e-9 {
            format!("{} for {time}", rate(stage.to))
        } else {
            format!("{} to {} in {time}", rate(stage.from), rate(stage.to))
        }
    });
    format!("open model: {}; {users} users", stages.collect::<Vec<_>>().join(", "))
}

/// `planned 500.0/s, started 500.0/s, delivered 499.9/s`.
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

/// Rows of the percentile table: name and percentiles.
pub(super) fn rows(report: &LoadReport) -> Vec<(String, Percentiles)> {
    let mut rows = vec![
        ("response".to_owned(), report.response.figures),
        ("service".to_owned(), report.service.figures),
    ];
    rows.extend(report.time_to_verdict.as_ref().map(|timing| ("time to verdict".to_owned(), timing.figures)));
    if report.routes.len() > 1 {
        rows.extend(report.routes.iter().map(|route| (route.route.clone(), route.response.figures)));
    }
    rows.extend(
        report.edge_added.as_ref().map(|added| ("edge-added latency".to_owned(), added.timing.figures)),
    );
    if report.waiting.figures.max_us > 1000 {
        rows.push(("wait for a connection".to_owned(), report.waiting.figures));
    }
    if report.model == Model::Open {
        rows.push(("generator lateness".to_owned(), report.lateness.figures));
    }
    rows
}

/// `p99 <= 250ms: 12.30 ms, 95 % within the limit`.
pub(super) fn threshold(threshold: &ThresholdResult) -> String {
    let route = threshold.route.as_ref().map_or(String::new(), |route| format!("{} ", one_line(route)));
    let by_default = if threshold.by_default { " (default)" } else { "" };
    let observed = threshold.observed.as_deref().unwrap_or("no data");
    let margin = match threshold.margin {
        None => String::new(),
        Some(margin) if margin < 0.0 => format!(", {:.0} % beyond the limit", -margin * 100.0),
        Some(margin) => format!(", {:.0} % within the limit", margin * 100.0),
    };
    format!("{route}{}{by_default}: {observed}{margin}", threshold.rule)
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
        "generator: {:.2} CPU s per 100,000 requests{included}, {} processors, memory {} to {}",
        generator.cpu_s_per_100k,
        generator.processors,
        mebibytes(generator.memory_first),
        mebibytes(generator.memory_last)
    )
}

/// `edge: 2.10 CPU s per 100,000 requests, memory 40.0 MiB to 44.0 MiB, peak 48.0 MiB`.
pub(super) fn edge(cost: &EdgeCost) -> String {
    format!(
        "edge: {:.2} CPU s per 100,000 requests, memory {} to {}, peak {}",
        cost.cpu_s_per_100k,
        mebibytes(cost.memory_first),
        mebibytes(cost.memory_last),
        mebibytes(cost.memory_most)
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

/// `service down at 10s for 2s, 31 requests affected: recovered within 0.31 s`.
pub(super) fn fault(fault: &InjectedFault) -> String {
    let hit = if fault.hit > 0 { format!(", {} requests affected", count(fault.hit)) } else { String::new() };
    let recovered = match (fault.ended_ms, fault.recovery_ms) {
        (None, _) => String::new(),
        (Some(_), _) if fault.hit == 0 => ": no request affected".to_owned(),
        (Some(_), Some(0)) => ": recovered at once".to_owned(),
        (Some(_), Some(ms)) => format!(": recovered within {}", duration(ms)),
        (Some(_), None) => ": did not recover".to_owned(),
    };
    format!("{}{hit}{recovered}", one_line(&fault.fault))
}

/// `p99: 12.30 ms, was 11.90 ms (+3.4 %, noise 5.0 %): within noise`.
pub(super) fn difference(difference: &Difference) -> String {
    let value = |value: f64| {
        if difference.figure.starts_with("CPU") { format!("{value:.2}") } else { micros(value as u64) }
    };
    // Noise of 100 % and more only means too few samples.
    let noise = if difference.noise < 1.0 {
        format!("noise {:.1} %", difference.noise * 100.0)
    } else {
        "too few samples".to_owned()
    };
    format!(
        "{}: {}, was {} ({:+.1} %, {noise}): {}",
        difference.figure,
        value(difference.now),
        value(difference.before),
        difference.change * 100.0,
        difference.verdict
    )
}
