use std::time::Duration;

use percent_encoding::percent_decode_str;

/// Time that a request for a verdict waits (maximum), from the first `waitMs` in its query, in whole milliseconds. `max` is
/// the profile's `verdict.wait-max-ms`. A larger value is clamped; an invalid one means no wait.
pub(crate) fn wait_ms(query: Option<&str>, max: Duration) -> Duration {
    let mut pairs =
        query.unwrap_or_default().split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let Some((_, value)) = pairs.find(|(name, _)| percent_decode_str(name).eq(b"waitMs".iter().copied()))
    else {
        return Duration::ZERO;
    };
    let digits: Vec<u8> = percent_decode_str(value).collect();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Duration::ZERO;
    }
    // Too many digits for a `u64` are a large number.
    let millis = std::str::from_utf8(&digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(u64::MAX);
    Duration::from_millis(millis).min(max)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::absent("", 0)]
    #[case::other("x=5&waitms=7", 0)]
    #[case::zero("waitMs=0", 0)]
    #[case::valid("waitMs=250", 250)]
    #[case::with_others("a=1&waitMs=250&b", 250)]
    #[case::leading_zeros("waitMs=000250", 250)]
    #[case::percent_encoded("wait%4ds=2%350", 250)]
    #[case::maximum("waitMs=30000", 30_000)]
    #[case::above_maximum("waitMs=30001", 30_000)]
    #[case::huge("waitMs=999999999999999999999999999", 30_000)]
    #[case::negative("waitMs=-1", 0)]
    #[case::signed("waitMs=+1", 0)]
    #[case::fraction("waitMs=1.5", 0)]
    #[case::exponent("waitMs=1e3", 0)]
    #[case::hexadecimal("waitMs=0x10", 0)]
    #[case::words("waitMs=soon", 0)]
    #[case::empty("waitMs=", 0)]
    #[case::name_only("waitMs", 0)]
    #[case::first_counts("waitMs=soon&waitMs=250", 0)]
    #[case::other_digits("waitMs=%D9%A3", 0)]
    fn wait_is_whole_milliseconds_up_to_the_maximum(#[case] query: &str, #[case] millis: u64) {
        let max = Duration::from_secs(30);
        assert_eq!(wait_ms(Some(query), max), Duration::from_millis(millis));
        assert_eq!(wait_ms(None, max), Duration::ZERO);
    }
}
