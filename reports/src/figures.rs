//! Times and verdicts in words.

use crate::{AddedLatency, Summary};

/// `640 µs`, `1.30 ms`, `2.4 s`.
pub(crate) fn micros(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{:.2} ms", us as f64 / 1e3),
        _ => format!("{:.1} s", us as f64 / 1e6),
    }
}

/// `0.64 s`, `12.4 s`, `2 min 5 s`.
pub(crate) fn took(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{:.2} s", ms as f64 / 1e3),
        10_000..60_000 => format!("{:.1} s", ms as f64 / 1e3),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// `p50 0.21 ms, p99 1.30 ms (412 exchanges)`.
pub(crate) fn latency(latency: &AddedLatency) -> String {
    let AddedLatency { samples, p50_us, p99_us } = *latency;
    format!("p50 {}, p99 {} ({samples} exchanges)", micros(p50_us), micros(p99_us))
}

/// What an exit code means, in words.
pub(crate) fn verdict(exit_code: u8, summary: &Summary, findings: usize) -> String {
    match exit_code {
        0 => "conforms".to_owned(),
        1 if summary.fail > 0 => "does not conform".to_owned(),
        1 if findings > 0 => "does not pass: see the findings".to_owned(),
        1 => "does not conform: warnings count here".to_owned(),
        2 => "could not begin: the command, or a file it names, is wrong".to_owned(),
        3 => "incomplete: nothing is proven".to_owned(),
        130 | 143 => "ended by a signal: nothing is proven".to_owned(),
        other => format!("ended with code {other}: nothing is proven"),
    }
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
    fn tells_times(#[case] us: u64, #[case] told: &str) {
        assert_eq!(micros(us), told);
    }

    #[rstest]
    #[case(640, "0.64 s")]
    #[case(12_400, "12.4 s")]
    #[case(125_999, "2 min 5 s")]
    fn tells_how_long_a_run_took(#[case] ms: u64, #[case] told: &str) {
        assert_eq!(took(ms), told);
    }

    #[rstest]
    #[case(0, 0, 0, "conforms")]
    #[case(1, 2, 1, "does not conform")]
    #[case(1, 0, 1, "does not pass: see the findings")]
    #[case(1, 0, 0, "does not conform: warnings count here")]
    #[case(3, 0, 0, "incomplete: nothing is proven")]
    #[case(143, 0, 0, "ended by a signal: nothing is proven")]
    fn says_what_a_code_means(
        #[case] code: u8,
        #[case] fail: usize,
        #[case] findings: usize,
        #[case] words: &str,
    ) {
        assert_eq!(verdict(code, &Summary { fail, ..Summary::default() }, findings), words);
    }
}
