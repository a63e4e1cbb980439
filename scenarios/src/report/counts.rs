use edgeproof_reports::load::{LoadReport, Rates, Reconciled};

use super::inputs::ReportInputs;
use crate::engine::{LocalRecorder, RunData};
use crate::measure::{LoadMeasurements, RequestFailure, RequestOutcome};
use crate::plan::Arrivals;

pub(super) fn rates(recorded: &LocalRecorder, arrivals: &[&Arrivals], measured_s: f64) -> Rates {
    let each = |count: u64| if measured_s > 0.0 { count as f64 / measured_s } else { 0.0 };
    let asked: f64 = arrivals
        .iter()
        .map(|arrivals| {
            arrivals.measured() as f64
                / arrivals.end().saturating_sub(arrivals.warm_up()).as_secs_f64().max(1e-9)
        })
        .sum();
    let ledger = &recorded.ledger;
    Rates {
        asked: (!arrivals.is_empty()).then_some(asked),
        begun: each(ledger.scheduled - ledger.dropped),
        // An unexpected answer, or an answer after the end of the load, is no throughput.
        delivered: each(ledger.answered - ledger.unexpected - recorded.late),
    }
}

pub(super) fn reconcile(inputs: &ReportInputs<'_>, measurements: &LoadMeasurements) -> Vec<Reconciled> {
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
            let (unanswered, arrived) = (unanswered + by_edge, *arrived);
            Reconciled { route, sent, unanswered, arrived, agrees: agrees(sent, unanswered, arrived) }
        })
        .collect()
}

pub(super) fn imbalance(report: &LoadReport, data: &RunData) -> Vec<String> {
    let mut found = Vec::new();
    for ledger in [&data.recorded.ledger, &data.recorded.warm_up] {
        if !ledger.balances() {
            found.push(format!(
                "{} operations were scheduled, but {} are accounted for",
                ledger.scheduled,
                ledger.accounted()
            ));
        }
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

/// Measured requests that timed out, were open at the end or were never sent.
pub(super) fn unanswered(measurements: &LoadMeasurements) -> u64 {
    use RequestOutcome::{Dropped, Failed, Open};
    let series = measurements.series.iter();
    series
        .filter(|series| matches!(series.outcome, Failed(RequestFailure::Timeout) | Open | Dropped))
        .map(|series| series.observed.count())
        .sum()
}

/// Whether the service counted every answered request, and at most all requests.
fn agrees(sent: u64, unanswered: u64, arrived: u64) -> bool {
    (sent - unanswered..=sent).contains(&arrived)
}

#[cfg(test)]
mod tests {
    use edgeproof_reports::load::Ledger;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(10, 0, 10, true)]
    #[case(10, 0, 9, false)]
    #[case(10, 0, 11, false)]
    #[case(10, 2, 8, true)]
    #[case(10, 2, 7, false)]
    fn service_counts_every_answered_request(
        #[case] sent: u64,
        #[case] unanswered: u64,
        #[case] arrived: u64,
        #[case] expected: bool,
    ) {
        assert_eq!(agrees(sent, unanswered, arrived), expected);
    }

    #[rstest]
    #[case(Ledger { scheduled: 10, answered: 5, failed: 2, dropped: 2, open: 1, unexpected: 3, without_verdict: 0 }, true)]
    #[case(Ledger { scheduled: 10, answered: 10, failed: 1, ..Ledger::default() }, false)]
    #[case(Ledger { scheduled: 10, answered: 9, ..Ledger::default() }, false)]
    fn every_scheduled_operation_needs_an_end(#[case] ledger: Ledger, #[case] balances: bool) {
        assert_eq!(ledger.balances(), balances);
    }
}
