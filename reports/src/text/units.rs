//! Durations, counts, rates and sizes as text.

use crate::model::AddedLatency;

/// A duration of `us` µs: `640 µs`, `1.30 ms`, `2.4 s`.
pub fn micros(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{:.2} ms", us as f64 / 1e3),
        _ => format!("{:.1} s", us as f64 / 1e6),
    }
}

/// A duration of `ms` milliseconds: `0.64 s`, `12.4 s`, `2 min 5 s`.
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{:.2} s", ms as f64 / 1e3),
        10_000..60_000 => format!("{:.1} s", ms as f64 / 1e3),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
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

/// A rate: `499.8/s`, `12,345/s`.
pub fn rate(per_second: f64) -> String {
    if per_second >= 1000.0 {
        format!("{}/s", count(per_second.round() as u64))
    } else {
        format!("{per_second:.1}/s")
    }
}

/// A size: `12.3 MiB`.
pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / 1024.0 / 1024.0)
}

/// `p50 0.21 ms, p99 1.30 ms (412 exchanges)`.
pub(crate) fn latency(latency: &AddedLatency) -> String {
    let AddedLatency { samples, p50_us, p99_us } = *latency;
    format!("p50 {}, p99 {} ({samples} exchanges)", micros(p50_us), micros(p99_us))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0, "0 µs")]
    #[case(999, "999 µs")]
    #[case(1_300, "1.30 ms")]
    #[case(2_400_000, "2.4 s")]
    fn microseconds_get_a_fitting_unit(#[case] us: u64, #[case] text: &str) {
        assert_eq!(micros(us), text);
    }

    #[rstest]
    #[case(640, "0.64 s")]
    #[case(12_400, "12.4 s")]
    #[case(125_999, "2 min 5 s")]
    fn durations_get_a_fitting_unit(#[case] ms: u64, #[case] text: &str) {
        assert_eq!(duration(ms), text);
    }
}
