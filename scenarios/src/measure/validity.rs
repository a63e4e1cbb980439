use std::time::Duration;

use super::histogram::Histogram;

/// Figures that decide whether a run is valid.
#[derive(Debug, Clone)]
pub struct ValidityInputs<'a> {
    /// Delay added by the generator while a connection was free.
    pub lateness: &'a Histogram,
    /// Delay of the runtime's timer.
    pub lag: &'a Histogram,
    /// Largest acceptable delay.
    pub tolerance: Duration,
    /// Share of the time in which the process used all its CPU, 0 to 1.
    pub starved: f64,
    /// Whether the run uses the open model.
    pub open: bool,
    /// Operations that the plan scheduled.
    pub planned: u64,
    /// Operations that the pacer released.
    pub released: u64,
    /// Collections that were sealed too late, and collections sent.
    pub unsealed: (u64, u64),
}

/// Largest share of late requests.
const LATE: f64 = 0.01;
/// Largest share of the time with all CPU used.
const STARVED: f64 = 0.2;
/// A 99th percentile of the delay (µs) below which full CPU use does no harm.
const PUNCTUAL: u64 = 2_000;
/// Largest share of collections that were sealed too late.
const UNSEALED: f64 = 0.001;
/// Smallest share of planned operations that the pacer must release.
const RELEASED: f64 = 0.995;

/// Why a run is invalid; empty for a valid run.
pub fn invalid_reasons(inputs: &ValidityInputs<'_>) -> Vec<String> {
    let mut invalid = Vec::new();
    let tolerance = inputs.tolerance.as_micros() as u64;
    let count = inputs.lateness.count();
    let late = inputs.lateness.longer_than(tolerance);
    if inputs.open && late as f64 > count as f64 * LATE {
        invalid.push(format!(
            "the generator was late although a connection was free: {late} of {count} requests by more than {}, at most {}",
            humantime::format_duration(inputs.tolerance),
            ms(inputs.lateness.max()),
        ));
    }
    let (rang, slow) = (inputs.lag.count(), inputs.lag.longer_than(tolerance));
    if slow as f64 > rang as f64 * LATE * 5.0 {
        invalid.push(format!(
            "the generator did not get CPU in time: its timer fired more than {} late {slow} of {rang} times, at most {}",
            humantime::format_duration(inputs.tolerance),
            ms(inputs.lag.max()),
        ));
    }
    if inputs.starved > STARVED
        && (inputs.lateness.value_at(0.99) > PUNCTUAL || inputs.lag.value_at(0.99) > PUNCTUAL)
    {
        invalid.push(format!(
            "the process used all available CPU in {:.0} % of the time, and was late",
            inputs.starved * 100.0
        ));
    }
    let (unsealed, sent) = inputs.unsealed;
    if unsealed as f64 > sent as f64 * UNSEALED {
        invalid.push(format!(
            "{unsealed} of {sent} collections were not sealed in time: their requests waited for the generator"
        ));
    }
    if inputs.open && (inputs.released as f64) < inputs.planned as f64 * RELEASED {
        invalid.push(format!("the pacer released only {} of {} operations", inputs.released, inputs.planned));
    }
    invalid
}

fn ms(us: u64) -> String {
    format!("{:.1} ms", us as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn times(count: u64, ms: u64, late: u64, late_ms: u64) -> Histogram {
        let mut histogram = Histogram::new();
        (0..count).for_each(|_| histogram.record_micros(ms * 1000));
        (0..late).for_each(|_| histogram.record_micros(late_ms * 1000));
        histogram
    }

    #[rstest]
    #[case::sound(times(1000, 0, 5, 50), times(100, 1, 0, 0), 0.0, 1005, "")]
    #[case::late(
        times(1000, 0, 20, 50),
        times(100, 1, 0, 0),
        0.0,
        1020,
        "late although a connection was free"
    )]
    #[case::stuck(times(1000, 0, 0, 0), times(100, 1, 10, 80), 0.0, 1000, "did not get CPU in time")]
    #[case::busy_and_punctual(times(1000, 0, 0, 0), times(100, 1, 0, 0), 0.9, 1000, "")]
    #[case::busy_and_late(times(1000, 5, 0, 0), times(100, 1, 0, 0), 0.9, 1000, "all available CPU")]
    #[case::sealed_late(
        times(1000, 0, 0, 0),
        times(100, 1, 0, 0),
        0.0,
        1000,
        "2 of 1000 collections were not sealed"
    )]
    #[case::held_back(times(900, 0, 0, 0), times(100, 1, 0, 0), 0.0, 1000, "only 900 of 1000")]
    fn late_generator_makes_the_run_invalid(
        #[case] lateness: Histogram,
        #[case] lag: Histogram,
        #[case] starved: f64,
        #[case] planned: u64,
        #[case] expected: &str,
    ) {
        let tolerance = Duration::from_millis(10);
        let released = lateness.count();
        let unsealed = (if expected.contains("sealed") { 2 } else { 1 }, 1000);
        let inputs = ValidityInputs {
            lateness: &lateness,
            lag: &lag,
            tolerance,
            starved,
            open: true,
            planned,
            released,
            unsealed,
        };
        let invalid = invalid_reasons(&inputs).join("; ");
        assert_eq!(invalid.is_empty(), expected.is_empty(), "{invalid}");
        assert!(invalid.contains(expected), "{invalid}");
    }
}
