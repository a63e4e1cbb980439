//! Durations, counts, rates and sizes as text.

use crate::model::AddedLatency;

/// A positive number with three significant digits: `0.123`, `12.3`, `12,300`.
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let (rounded, exponent) = rounded(value);
    if rounded.abs() >= 1000.0 {
        return count(rounded as u64);
    }
    format!("{rounded:.*}", usize::try_from(2 - exponent).unwrap_or(0))
}

/// A duration of `us` µs: `640 µs`, `1.30 ms`, `500 ms`, `2.40 s`.
pub fn micros(us: u64) -> String {
    // Rounded first: 999,960 µs are `1.00 s`, not `1000 ms`.
    match rounded(us as f64).0 {
        ..1e3 => format!("{us} µs"),
        ms @ ..1e6 => format!("{} ms", significant(ms / 1e3)),
        s => format!("{} s", significant(s / 1e6)),
    }
}

/// Length of a run of `ms` milliseconds: `0.64 s`, `12.4 s`, `2 min 5 s`.
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{:.2} s", ms as f64 / 1e3),
        10_000..60_000 => format!("{:.1} s", ms as f64 / 1e3),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// A duration that a user gave, in full: `500 ms`, `1.5 s`, `2 min 5 s`.
pub(crate) fn given_duration(ms: u64) -> String {
    match (ms / 60_000, ms % 60_000) {
        (0, ms @ 0..1_000) => format!("{ms} ms"),
        (0, ms) => format!("{} s", ms as f64 / 1e3),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, ms) => format!("{minutes} min {} s", ms as f64 / 1e3),
    }
}

/// Elapsed time of `ms` milliseconds: `0:42`, `1:02:03`.
pub fn clock(ms: u64) -> String {
    let seconds = ms / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// A number with its noun: `1 case`, `2 cases`.
pub fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A number with thousands separators: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A measured rate: `0.500/s`, `499/s`, `12,300/s`.
pub fn rate(per_second: f64) -> String {
    format!("{}/s", significant(per_second))
}

/// A rate that a user gave, in full: `0.5/s`, `12,345/s`.
pub(crate) fn given_rate(per_second: f64) -> String {
    let thousandths = (per_second * 1000.0).round() as u64;
    let rest = format!("{:03}", thousandths % 1000);
    match rest.trim_end_matches('0') {
        "" => format!("{}/s", count(thousandths / 1000)),
        rest => format!("{}.{rest}/s", count(thousandths / 1000)),
    }
}

/// A share, 0 to 1: `0.600 %`, `12.5 %`.
pub fn percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0))
}

/// A size: `640 B`, `12.3 KiB`, `20.0 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    format!("{} {}", significant(value), UNITS[unit])
}

/// `p50 0.21 ms, p99 1.30 ms (412 exchanges)`.
pub(crate) fn latency(latency: &AddedLatency) -> String {
    let AddedLatency { samples, p50_us, p99_us } = *latency;
    format!("p50 {}, p99 {} ({samples} exchanges)", micros(p50_us), micros(p99_us))
}

/// The value rounded to three significant digits, and its decimal exponent.
fn rounded(value: f64) -> (f64, i32) {
    let text = format!("{value:.2e}");
    let exponent = text.rsplit_once('e').and_then(|(_, exponent)| exponent.parse().ok());
    (text.parse().unwrap_or(value), exponent.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0, "0 µs")]
    #[case(999, "999 µs")]
    #[case(1_300, "1.30 ms")]
    #[case(12_345, "12.3 ms")]
    #[case(500_220, "500 ms")]
    #[case(999_499, "999 ms")]
    #[case(999_960, "1.00 s")]
    #[case(1_000_000, "1.00 s")]
    #[case(2_400_000, "2.40 s")]
    #[case(7_200_000_000, "7,200 s")]
    fn times_have_three_significant_digits(#[case] us: u64, #[case] text: &str) {
        assert_eq!(micros(us), text);
    }

    #[rstest]
    #[case(640, "0.64 s")]
    #[case(12_400, "12.4 s")]
    #[case(125_999, "2 min 5 s")]
    fn durations_get_a_fitting_unit(#[case] ms: u64, #[case] text: &str) {
        assert_eq!(duration(ms), text);
    }

    #[rstest]
    #[case(500, "500 ms")]
    #[case(10_000, "10 s")]
    #[case(1_500, "1.5 s")]
    #[case(120_000, "2 min")]
    #[case(125_500, "2 min 5.5 s")]
    fn given_durations_are_complete(#[case] ms: u64, #[case] text: &str) {
        assert_eq!(given_duration(ms), text);
    }

    #[rstest]
    #[case(0.0, "0/s", "0/s")]
    #[case(0.5, "0.500/s", "0.5/s")]
    #[case(99.96, "100/s", "99.96/s")]
    #[case(499.84, "500/s", "499.84/s")]
    #[case(12_345.0, "12,300/s", "12,345/s")]
    fn measured_rates_are_rounded_and_given_ones_complete(
        #[case] per_second: f64,
        #[case] measured: &str,
        #[case] given: &str,
    ) {
        assert_eq!((rate(per_second).as_str(), given_rate(per_second).as_str()), (measured, given));
    }

    #[rstest]
    #[case(0.0, "0 %")]
    #[case(0.000_012_34, "0.00123 %")]
    #[case(0.006, "0.600 %")]
    #[case(0.125, "12.5 %")]
    #[case(1.0, "100 %")]
    fn shares_have_three_significant_digits(#[case] share: f64, #[case] text: &str) {
        assert_eq!(percent(share), text);
    }

    #[rstest]
    #[case(640, "640 B")]
    #[case(12_595, "12.3 KiB")]
    #[case(1_048_575, "1.00 MiB")]
    #[case(20 << 20, "20.0 MiB")]
    fn sizes_get_a_fitting_unit(#[case] bytes: u64, #[case] text: &str) {
        assert_eq!(size(bytes), text);
    }
}
