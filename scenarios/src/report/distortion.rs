use edgeproof_reports::load::{ContentionFigures, Distortion};

use super::inputs::ReportInputs;
use crate::measure::{
    CpuContention, DistortedPercentile, Histogram, LoadMeasurements, MeasuredTime, ObservedTimes, RouteId,
};
use crate::plan::{Metric, Quantile};

/// The percentiles that the generator's delay changed: of the whole run, of each route, and of the time to
/// verdict.
pub(super) fn distorted(
    inputs: &ReportInputs<'_>,
    measurements: &LoadMeasurements,
) -> Vec<DistortedPercentile> {
    let limited = |route: Option<&str>, of: fn(Metric) -> Option<Quantile>| -> Vec<Quantile> {
        let thresholds = inputs.thresholds.iter().map(|(threshold, _)| threshold);
        thresholds
            .filter(|threshold| threshold.route.as_deref() == route)
            .filter_map(|threshold| of(threshold.metric))
            .collect()
    };
    let response = |id: Option<RouteId>, route: Option<&str>| ObservedTimes {
        route: route.map(str::to_owned),
        figure: MeasuredTime::Response,
        observed: measurements.sum(id, |series| &series.observed),
        corrected: measurements.sum(id, |series| &series.response),
        limited: limited(route, |metric| match metric {
            Metric::Response(quantile) => Some(quantile),
            _ => None,
        }),
    };
    let routes = inputs.routes.iter().enumerate();
    let mut times: Vec<ObservedTimes> = std::iter::once(response(None, None))
        .chain(routes.map(|(place, route)| response(Some(RouteId(place as u8)), Some(route))))
        .collect();
    times.extend(verdict(
        measurements,
        limited(None, |metric| match metric {
            Metric::TimeToVerdict(quantile) => Some(quantile),
            _ => None,
        }),
    ));
    times.iter().flat_map(ObservedTimes::distorted).collect()
}

/// A distorted percentile in the report.
pub(super) fn distortion(found: DistortedPercentile) -> Distortion {
    Distortion {
        route: found.route,
        figure: found.figure.to_string(),
        percentile: found.quantile.name().to_owned(),
        observed_us: found.observed,
        corrected_us: found.corrected,
        invalid: found.invalid,
    }
}

/// The use of the processors in the report.
pub(super) fn contention_figures(contention: &CpuContention) -> ContentionFigures {
    let elapsed = contention.elapsed.as_secs_f64();
    let wait_s = contention.wait.as_secs_f64();
    ContentionFigures {
        wait_s,
        wait_share: if elapsed > 0.0 { wait_s / elapsed } else { 0.0 },
        others_s: contention.others.as_secs_f64(),
        steal_s: contention.steal.as_secs_f64(),
        throttled_s: contention.throttled.as_secs_f64(),
        target_cpu_s: contention.target.map(|target| target.cpu.as_secs_f64()),
        target_wait_s: contention.target.map(|target| target.wait.as_secs_f64()),
    }
}

/// Both times to verdict, if both are recorded.
fn verdict(measurements: &LoadMeasurements, limited: Vec<Quantile>) -> Option<ObservedTimes> {
    let [corrected, observed]: [&Histogram; 2] = [&measurements.verdict, &measurements.verdict_observed];
    (observed.count() == corrected.count()).then(|| ObservedTimes {
        route: None,
        figure: MeasuredTime::TimeToVerdict,
        observed: observed.clone(),
        corrected: corrected.clone(),
        limited,
    })
}
