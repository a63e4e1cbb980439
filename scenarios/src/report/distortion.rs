use edgeproof_reports::load::{ContentionFigures, Distortion, LoadReport, Quantile, Timing};

use crate::measure::Histogram;
use crate::plan::{Metric, Threshold};

/// Both distributions of a measured time.
struct ObservedTimes<'a> {
    /// The route; `None` for the whole run.
    route: Option<&'a str>,
    figure: &'static str,
    /// With the delay that the generator added.
    observed: Histogram,
    /// Without it.
    corrected: Histogram,
    /// Percentiles that thresholds limit.
    limited: Vec<Quantile>,
    tolerance: Tolerance,
}

/// How much delay of its own a generator may have before the run is invalid.
///
/// The reported percentiles leave the delay out, and a percentile that it changes is marked in any case.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tolerance {
    /// Largest difference (µs).
    micros: u64,
    /// Share of the requests with any delay.
    requests: f64,
}

/// Response time of a request.
const RESPONSE: &str = "response";
/// Time from the start of a session to its verdict.
const TIME_TO_VERDICT: &str = "time to verdict";
/// Share of a processor that other programs use on a machine with other work. Every machine has some.
const OTHERS: f64 = 0.25;
/// Share of the run in which a CPU limit stops a generator.
const THROTTLED: f64 = 0.02;
/// Largest difference as a share of the corrected percentile.
const SHARE: f64 = 0.05;
/// Percentiles that every run must measure.
const REQUIRED: [Quantile; 3] = [Quantile::P50, Quantile::P90, Quantile::P99];

/// The percentiles that the generator's delay changed: of the whole run, of each route, and of the time to
/// verdict.
pub(super) fn distorted(report: &LoadReport, thresholds: &[(Threshold, bool)]) -> Vec<Distortion> {
    let duration_ms = report.duration_ms * report.shards.len() as u64;
    let tolerance = Tolerance::of(&report.generator.contention, duration_ms);
    let limited = |route: Option<&str>, metric: fn(Quantile) -> Metric| -> Vec<Quantile> {
        let is_limited = |quantile: &Quantile| {
            let mut own = thresholds.iter().filter(|(threshold, _)| threshold.route.as_deref() == route);
            own.any(|(threshold, _)| threshold.metric == metric(*quantile))
        };
        Quantile::ALL.into_iter().filter(is_limited).collect()
    };
    let mut times =
        vec![(None, RESPONSE, &report.observed, &report.response, limited(None, Metric::Response))];
    times.extend(report.routes.iter().map(|route| {
        let name = Some(route.route.as_str());
        (name, RESPONSE, &route.observed, &route.response, limited(name, Metric::Response))
    }));
    if let (Some(observed), Some(corrected)) = (&report.time_to_verdict_observed, &report.time_to_verdict) {
        times.push((None, TIME_TO_VERDICT, observed, corrected, limited(None, Metric::TimeToVerdict)));
    }
    let read = |timing: &Timing| Histogram::decode(&timing.histogram).ok();
    times
        .into_iter()
        .filter_map(|(route, figure, observed, corrected, limited)| {
            let (observed, corrected) = (read(observed)?, read(corrected)?);
            // They are not of the same requests if the report is of an older version, which has no observed times.
            let is_same = observed.count() == corrected.count();
            is_same.then_some(ObservedTimes { route, figure, observed, corrected, limited, tolerance })
        })
        .flat_map(|times| times.distorted())
        .collect()
}

impl Tolerance {
    /// For a generator that others keep from running: none of its waits is usual.
    const STRICT: Self = Self { micros: 50, requests: 0.0 };
    /// For a generator with its processors to itself. A processor that sleeps needs time to run a thread: on an idle
    /// virtual machine tens of µs for most requests, up to 0.5 ms for one in a hundred, and ms for a few.
    const WAKE_UPS: Self = Self { micros: 500, requests: 0.01 };

    /// For a run with this use of the processors and this duration (ms).
    fn of(contention: &ContentionFigures, duration_ms: u64) -> Self {
        let share = |seconds: f64| seconds * 1000.0 / duration_ms.max(1) as f64;
        let is_held_back = share(contention.others_s) > OTHERS || share(contention.throttled_s) > THROTTLED;
        if is_held_back { Self::STRICT } else { Self::WAKE_UPS }
    }
}

impl ObservedTimes<'_> {
    /// The percentiles that the generator's delay changed.
    fn distorted(&self) -> Vec<Distortion> {
        let distorted = |quantile: Quantile| {
            let (observed, corrected) = (self.observed.at(quantile), self.corrected.at(quantile));
            differ(observed, corrected, Tolerance::STRICT).then(|| Distortion {
                route: self.route.map(str::to_owned),
                figure: self.figure.to_owned(),
                percentile: quantile.name().to_owned(),
                observed_us: observed,
                corrected_us: corrected,
                invalid: (REQUIRED.contains(&quantile) || self.limited.contains(&quantile))
                    && self.is_beyond_tolerance(quantile),
            })
        };
        Quantile::ALL.into_iter().filter_map(distorted).collect()
    }

    fn is_beyond_tolerance(&self, quantile: Quantile) -> bool {
        let usual = (quantile.share() - self.tolerance.requests).max(0.0);
        differ(self.observed.value_at(usual), self.corrected.at(quantile), self.tolerance)
    }
}

fn differ(observed: u64, corrected: u64, tolerance: Tolerance) -> bool {
    let difference = observed.saturating_sub(corrected);
    difference > tolerance.micros && difference as f64 > corrected as f64 * SHARE
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Of 10,000 requests, `late` each took `delay` longer because of the generator. Times in µs.
    fn times(response: u64, late: u64, delay: u64, limited: &[Quantile]) -> ObservedTimes<'static> {
        let (mut observed, mut corrected) = (Histogram::default(), Histogram::default());
        for number in 0..10_000 {
            corrected.record_micros(response);
            observed.record_micros(response + if number < late { delay } else { 0 });
        }
        let (limited, tolerance) = (limited.to_vec(), Tolerance::STRICT);
        ObservedTimes { route: None, figure: RESPONSE, observed, corrected, limited, tolerance }
    }

    #[rstest]
    #[case::usual_wake_ups(100, 10_000, 450, &[], "p50 p90 p95 p99 p99.9 max")]
    #[case::rare_stalls(100, 90, 8_000, &[], "p99.9 max")]
    #[case::waits(100, 300, 8_000, &[], "p99! p99.9 max")]
    #[case::all_late(100, 10_000, 700, &[Quantile::P95], "p50! p90! p95! p99! p99.9 max")]
    fn wake_ups_of_an_idle_machine_are_tolerated(
        #[case] response: u64,
        #[case] late: u64,
        #[case] delay: u64,
        #[case] limited: &[Quantile],
        #[case] expected: &str,
    ) {
        let tolerance = Tolerance::WAKE_UPS;
        check(&ObservedTimes { tolerance, ..times(response, late, delay, limited) }, expected);
    }

    #[rstest]
    #[case::in_time(500, 10_000, 0, &[], "")]
    #[case::little_of_a_slow_answer(100_000, 10_000, 4_000, &[], "")]
    #[case::little_in_time(100, 10_000, 45, &[], "")]
    #[case::much_of_both(1_000, 10_000, 60, &[], "p50! p90! p95 p99! p99.9 max")]
    // 8 ms twenty times a second.
    #[case::many_short_waits(500, 1_600, 8_000, &[], "p90! p95 p99! p99.9 max")]
    #[case::one_long_wait(500, 1_600, 5_000_000, &[], "p90! p95 p99! p99.9 max")]
    #[case::some_requests(500, 99, 8_000, &[], "p99.9 max")]
    #[case::some_requests_of_a_limited_percentile(500, 99, 8_000, &[Quantile::P999], "p99.9! max")]
    #[case::limited_and_in_time(500, 400, 8_000, &[Quantile::P95], "p99! p99.9 max")]
    fn delay_beyond_both_tolerances_distorts(
        #[case] response: u64,
        #[case] late: u64,
        #[case] delay: u64,
        #[case] limited: &[Quantile],
        #[case] expected: &str,
    ) {
        check(&times(response, late, delay, limited), expected);
    }

    fn check(times: &ObservedTimes<'_>, expected: &str) {
        let found: Vec<String> = times
            .distorted()
            .iter()
            .map(|found| format!("{}{}", found.percentile, if found.invalid { "!" } else { "" }))
            .collect();
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn no_times_are_not_distorted() {
        assert_eq!(times(0, 0, 0, &[]).distorted().len(), 0);
    }
}
