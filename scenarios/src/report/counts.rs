use edgeproof_reports::load::{Ledger, LoadReport, Rates, Reconciled};

use super::inputs::ReportInputs;
use crate::engine::RunData;
use crate::measure::{Measurements, OperationCounts};
use crate::plan::Arrivals;

pub(super) fn ledger(ledger: &OperationCounts) -> Ledger {
    let OperationCounts { scheduled, answered, failed, dropped, open, unexpected, without_verdict, late: _ } =
        *ledger;
    Ledger { scheduled, answered, failed, dropped, open, unexpected, without_verdict }
}

pub(super) fn rates(ledger: &OperationCounts, arrivals: &[&Arrivals], measured_s: f64) -> Rates {
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
        // An unexpected answer, or an answer after the end of the load, is no throughput.
        delivered: each(ledger.answered - ledger.unexpected - ledger.late),
    }
}

pub(super) fn reconcile(inputs: &ReportInputs<'_>, measurements: &Measurements) -> Vec<Reconciled> {
    inputs
        .arrived
        .iter()
        .map(|(route, arrived)| {
            let place = usize::from(route.0);
            let sent = measurements.sent.get(place).copied().unwrap_or(0);
            let unanswered = measurements.unanswered.get(place).copied().unwrap_or(0);
            let route = inputs.routes.get(place).cloned().unwrap_or_default();
            // The edge answers 502 without a request to the service.
            let by_edge = measurements.unrelayed.get(place).copied().unwrap_or(0);
            let agrees = OperationCounts::reconcile(&route, sent, unanswered + by_edge, *arrived).is_ok();
            Reconciled { route, sent, unanswered: unanswered + by_edge, arrived: *arrived, agrees }
        })
        .collect()
}

pub(super) fn imbalance(report: &LoadReport, data: &RunData) -> Vec<String> {
    let mut found = Vec::new();
    for ledger in [&data.recorded.ledger, &data.recorded.warm_up] {
        found.extend(ledger.balance().err().map(|imbalance| imbalance.to_string()));
    }
    let scheduled = data.recorded.ledger.scheduled + data.recorded.warm_up.scheduled;
    if scheduled != data.released {
        found.push(format!(
            "the pacer released {} operations, but {scheduled} are accounted for",
            data.released
        ));
    }
    found.extend(report.reconciled.iter().filter(|counted| !counted.agrees).map(|counted| {
        format!(
            "{}: {} requests were sent, {} of them without an answer of the service, but the service counted {}",
            counted.route, counted.sent, counted.unanswered, counted.arrived
        )
    }));
    found
}
