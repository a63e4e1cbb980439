use edgeproof_reports::load::{OutcomeFigures, RouteFigures};

use super::inputs::ReportInputs;
use super::timing::response_timing;
use crate::measure::{Histogram, LoadMeasurements, OutcomeSeries, ResponseTimes, RouteId, UserWaits};

pub(super) fn route(
    inputs: &ReportInputs<'_>,
    measurements: &LoadMeasurements,
    place: usize,
    name: &str,
    measured_s: f64,
    waits: UserWaits,
) -> RouteFigures {
    let id = RouteId(place as u8);
    let own = || measurements.series.iter().filter(|series| series.route == id);
    // An unexpected answer is no throughput.
    let answered: u64 = own()
        .filter(|series| series.expected && series.outcome.is_answer())
        .map(|series| series.response.count())
        .sum();
    let mut outcomes: Vec<OutcomeFigures> = own()
        .map(|series| OutcomeFigures {
            outcome: inputs.codes.label(series.outcome),
            expected: series.expected,
            count: series.response.count(),
            response: response_timing(&of_outcome(series, &series.response)),
            service: response_timing(&of_outcome(series, &series.service)),
        })
        .collect();
    outcomes.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.outcome.cmp(&other.outcome)));
    RouteFigures {
        route: name.to_owned(),
        sent: measurements.sent.get(place).copied().unwrap_or(0),
        unanswered: measurements.unanswered.get(place).copied().unwrap_or(0),
        errors: own().filter(|series| !series.expected).map(|series| series.response.count()).sum(),
        answered_per_s: if measured_s > 0.0 { answered as f64 / measured_s } else { 0.0 },
        response: response_timing(&measurements.responses(Some(id), waits)),
        successes: response_timing(&measurements.successes(Some(id), waits)),
        observed: response_timing(&measurements.times(Some(id), |series| &series.observed)),
        service: response_timing(&measurements.times(Some(id), |series| &series.service)),
        outcomes,
    }
}

fn of_outcome(series: &OutcomeSeries, times: &Histogram) -> ResponseTimes {
    let (times, none) = (times.clone(), Histogram::new());
    if series.outcome.is_answer() {
        ResponseTimes { answered: times, unanswered: none }
    } else {
        ResponseTimes { answered: none, unanswered: times }
    }
}
