use std::time::Duration;

use super::rate::Rate;

/// Too few users, and so connections, for a rate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("cannot reach {rate} with {given} users: an operation takes {each}, so {in_flight} run at a time")]
#[diagnostic(help("give --users {needed} or a lower rate; too few users delay requests"))]
pub struct TooFewUsers {
    /// The highest rate, such as `500/s`.
    pub rate: String,
    /// Given number of users.
    pub given: u32,
    /// Latency of an operation, as text.
    pub each: String,
    /// Concurrent operations.
    pub in_flight: u32,
    /// Required number of users.
    pub needed: u32,
}

/// Smallest default: a target that slows down briefly needs spare connections.
const MIN_DEFAULT: u32 = 32;
/// Largest default.
const MAX_DEFAULT: u32 = 512;

/// Concurrent operations at a rate and a latency (Little's law); at least one.
pub fn users_for(peak: Rate, each: Duration) -> u32 {
    (peak.value() * each.as_secs_f64()).ceil().clamp(1.0, 1e9) as u32
}

/// The number of users for a rate: the given number if it suffices, otherwise four times the concurrent
/// operations, within limits.
pub fn plan_users(peak: Rate, each: Duration, given: Option<u32>) -> Result<u32, TooFewUsers> {
    let in_flight = users_for(peak, each);
    let Some(given) = given else {
        return Ok(in_flight
            .saturating_mul(4)
            .clamp(MIN_DEFAULT, MAX_DEFAULT)
            .max(in_flight.saturating_mul(3) / 2));
    };
    if given >= in_flight {
        return Ok(given);
    }
    Err(TooFewUsers {
        rate: peak.to_string(),
        given,
        each: humantime::format_duration(round(each)).to_string(),
        in_flight,
        needed: in_flight.saturating_mul(3).div_ceil(2),
    })
}

fn round(time: Duration) -> Duration {
    let micros = time.as_micros() as u64;
    Duration::from_micros(if micros >= 10_000 { micros / 1000 * 1000 } else { micros.max(1) })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(500.0, 2, None, 32)]
    #[case(500.0, 100, None, 200)]
    #[case(500.0, 1000, None, 750)]
    #[case(500.0, 100, Some(50), 50)]
    #[case(500.0, 100, Some(5000), 5000)]
    fn users_are_planned_from_rate_and_latency(
        #[case] rate: f64,
        #[case] ms: u64,
        #[case] given: Option<u32>,
        #[case] users: u32,
    ) {
        let rate = Rate::per_second(rate).unwrap();
        assert_eq!(plan_users(rate, Duration::from_millis(ms), given).unwrap(), users);
    }

    #[test]
    fn too_few_users_are_rejected_with_the_required_number() {
        let error =
            plan_users(Rate::per_second(500.0).unwrap(), Duration::from_millis(100), Some(49)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot reach 500/s with 49 users: an operation takes 100ms, so 50 run at a time"
        );
        assert_eq!(error.needed, 75);
    }
}
