use strum::IntoEnumIterator as _;

use super::histogram::Histogram;
use crate::plan::Quantile;

/// A percentile that the generator's own delay changed by more than the tolerance.
#[derive(Debug, Clone, PartialEq)]
pub struct DistortedPercentile {
    /// The route; `None` for the whole run.
    pub route: Option<String>,
    /// The figure.
    pub figure: MeasuredTime,
    /// The percentile.
    pub quantile: Quantile,
    /// With the delay that the generator added (µs).
    pub observed: u64,
    /// Without it (µs).
    pub corrected: u64,
    /// Whether the run is invalid because of it. Otherwise the percentile is marked.
    pub invalid: bool,
}

/// A measured time with a corrected and an observed distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum MeasuredTime {
    /// Response time of a request.
    #[strum(to_string = "response")]
    Response,
    /// Time from the start of a session to its verdict.
    #[strum(to_string = "time to verdict")]
    TimeToVerdict,
}

/// Both distributions of a measured time.
#[derive(Debug, Clone)]
pub struct ObservedTimes {
    /// The route; `None` for the whole run.
    pub route: Option<String>,
    /// The figure.
    pub figure: MeasuredTime,
    /// With the delay that the generator added.
    pub observed: Histogram,
    /// Without it.
    pub corrected: Histogram,
    /// Percentiles that thresholds limit.
    pub limited: Vec<Quantile>,
    /// Tolerated delay of the generator.
    pub tolerance: Tolerance,
}

/// How much delay of its own a generator may have before the run is invalid.
///
/// The reported percentiles leave the delay out, and a percentile that it changes is marked in any case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Largest difference (µs).
    micros: u64,
    /// Share of the requests with any delay.
    requests: f64,
}

/// Largest difference as a share of the corrected percentile.
const SHARE: f64 = 0.05;
/// Percentiles that every run must measure.
const REQUIRED: [Quantile; 3] = [Quantile::P50, Quantile::P90, Quantile::P99];

impl Tolerance {
    /// For a generator that others keep from running: none of its waits is usual.
    pub const STRICT: Self = Self { micros: 50, requests: 0.0 };
    /// For a generator with its processors to itself. A processor that sleeps needs time to run a thread: on an idle
    /// virtual machine tens of µs for most requests, up to 0.5 ms for one in a hundred, and ms for a few.
    pub const WAKE_UPS: Self = Self { micros: 500, requests: 0.01 };
}

impl ObservedTimes {
    /// The percentiles that the generator's delay changed.
    pub fn distorted(&self) -> impl Iterator<Item = DistortedPercentile> + '_ {
        Quantile::iter().filter_map(|quantile| {
            let (observed, corrected) = (self.observed.at(quantile), self.corrected.at(quantile));
            differ(observed, corrected, Tolerance::STRICT).then(|| DistortedPercentile {
                route: self.route.clone(),
                figure: self.figure,
                quantile,
                observed,
                corrected,
                invalid: (REQUIRED.contains(&quantile) || self.limited.contains(&quantile))
                    && self.is_beyond_tolerance(quantile),
            })
        })
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
    fn times(response: u64, late: u64, delay: u64, limited: &[Quantile]) -> ObservedTimes {
        let (mut observed, mut corrected) = (Histogram::new(), Histogram::new());
        for number in 0..10_000 {
            corrected.record_micros(response);
            observed.record_micros(response + if number < late { delay } else { 0 });
        }
        let figure = MeasuredTime::Response;
        let tolerance = Tolerance::STRICT;
        ObservedTimes { route: None, figure, observed, corrected, limited: limited.to_vec(), tolerance }
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

    fn check(times: &ObservedTimes, expected: &str) {
        let found: Vec<String> = times
            .distorted()
            .map(|found| format!("{}{}", found.quantile.name(), if found.invalid { "!" } else { "" }))
            .collect();
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn no_times_are_not_distorted() {
        assert_eq!(times(0, 0, 0, &[]).distorted().count(), 0);
    }
}
