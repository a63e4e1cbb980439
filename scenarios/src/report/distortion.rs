use edgeproof_reports::load::{ContentionFigures, Distortion, LoadReport, Timing};

use crate::measure::{CpuContention, DistortedPercentile, Histogram, MeasuredTime, ObservedTimes, Tolerance};
use crate::plan::{Metric, Quantile, Threshold};

/// Share of a processor that other programs use on a machine with other work. Every machine has some.
const OTHERS: f64 = 0.25;
/// Share of the run in which a CPU limit stops a generator.
const THROTTLED: f64 = 0.02;

/// The percentiles that the generator's delay changed: of the whole run, of each route, and of the time to
/// verdict.
pub fn distorted(
    report: &LoadReport,
    thresholds: &[(Threshold, bool)],
    tolerance: Tolerance,
) -> Vec<DistortedPercentile> {
    let response = |metric| match metric {
        Metric::Response(quantile) => Some(quantile),
        _ => None,
    };
    let verdict = |metric| match metric {
        Metric::TimeToVerdict(quantile) => Some(quantile),
        _ => None,
    };
    let limited = |route: Option<&str>, of: fn(Metric) -> Option<Quantile>| -> Vec<Quantile> {
        let thresholds = thresholds.iter().map(|(threshold, _)| threshold);
        let thresholds = thresholds.filter(|threshold| threshold.route.as_deref() == route);
        thresholds.filter_map(|threshold| of(threshold.metric)).collect()
    };
    let mut times = vec![observed_times(None, &report.observed, &report.response, limited(None, response))];
    times.extend(report.routes.iter().map(|route| {
        let name = Some(route.route.as_str());
        observed_times(name, &route.observed, &route.response, limited(name, response))
    }));
    if let Some((observed, corrected)) =
        report.time_to_verdict_observed.as_ref().zip(report.time_to_verdict.as_ref())
    {
        let times_to_verdict = observed_times(None, observed, corrected, limited(None, verdict));
        times.push(
            times_to_verdict.map(|times| ObservedTimes { figure: MeasuredTime::TimeToVerdict, ..times }),
        );
    }
    let times: Vec<ObservedTimes> =
        times.into_iter().flatten().map(|times| ObservedTimes { tolerance, ..times }).collect();
    times.iter().flat_map(ObservedTimes::distorted).collect()
}

/// Both distributions of response times. `None` if they are not of the same requests: a report of an older
/// version has no observed times.
fn observed_times(
    route: Option<&str>,
    observed: &Timing,
    corrected: &Timing,
    limited: Vec<Quantile>,
) -> Option<ObservedTimes> {
    let read = |timing: &Timing| Histogram::decode(&timing.histogram).ok();
    let (observed, corrected) = (read(observed)?, read(corrected)?);
    if observed.count() != corrected.count() {
        return None;
    }
    let (route, figure) = (route.map(str::to_owned), MeasuredTime::Response);
    Some(ObservedTimes { route, figure, observed, corrected, limited, tolerance: Tolerance::STRICT })
}

/// The tolerance for a run with this use of the processors and this duration (ms).
pub fn tolerance(contention: &ContentionFigures, duration_ms: u64) -> Tolerance {
    let share = |seconds: f64| seconds * 1000.0 / duration_ms.max(1) as f64;
    let is_held_back = share(contention.others_s) > OTHERS || share(contention.throttled_s) > THROTTLED;
    if is_held_back { Tolerance::STRICT } else { Tolerance::WAKE_UPS }
}

/// A distorted percentile in the report.
pub fn distortion(found: DistortedPercentile) -> Distortion {
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
