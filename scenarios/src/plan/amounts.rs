use std::fmt;
use std::str::FromStr;

/// An invalid value on the command line or in a file. The text follows the prefix of clap: `invalid value 'x' for '--rate
/// <RATE>': …`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}; {advice}")]
pub struct PlanError {
    /// What is wrong.
    pub why: String,
    /// What to write instead.
    pub advice: &'static str,
}

impl PlanError {
    pub(crate) fn new(why: impl Into<String>, advice: &'static str) -> Self {
        Self { why: why.into(), advice }
    }
}

/// Operations per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Rate(f64);

/// Highest valid rate. A higher rate is a typo: no machine reaches it.
const HIGHEST: f64 = 10_000_000.0;
const ADVICE: &str = "write 500, 500/s, 90/m or 0.5, up to 10000000/s";

impl Rate {
    /// A rate; `None` if it is out of range.
    pub fn per_second(rate: f64) -> Option<Self> {
        (rate.is_finite() && (0.0..=HIGHEST).contains(&rate)).then_some(Self(rate))
    }

    /// Operations per second.
    pub fn value(self) -> f64 {
        self.0
    }

    /// The rate times a share.
    #[must_use]
    pub fn times(self, share: f64) -> Self {
        Self(self.0 * share)
    }
}

impl FromStr for Rate {
    type Err = PlanError;

    /// Zero is valid: a stage can end at it.
    fn from_str(given: &str) -> Result<Self, PlanError> {
        let refuse = |why: &str| PlanError::new(why, ADVICE);
        let (number, seconds) = match given.trim().split_once('/') {
            None => (given.trim(), 1.0),
            Some((number, "s")) => (number, 1.0),
            Some((number, "m")) => (number, 60.0),
            Some((number, "h")) => (number, 3600.0),
            Some(_) => return Err(refuse("unknown unit: use /s, /m or /h")),
        };
        let number: f64 = number.parse().map_err(|_| refuse("not a number"))?;
        Self::per_second(number / seconds).ok_or_else(|| refuse("out of range"))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", (self.0 * 1000.0).round() / 1000.0)
    }
}

/// A share, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Share(f64);

impl Share {
    /// The share, 0 to 1.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Number of selected operations before the one with this number.
    pub fn taken_before(self, number: u64) -> u64 {
        (number as f64 * self.0).floor() as u64
    }

    /// Whether the share selects the operation with this number. The selection is evenly spread and the same
    /// in every process.
    pub fn takes(self, number: u64) -> bool {
        self.taken_before(number + 1) > self.taken_before(number)
    }
}

impl FromStr for Share {
    type Err = PlanError;

    fn from_str(given: &str) -> Result<Self, PlanError> {
        let refuse = |why: &str| PlanError::new(why, "write 5% or 0.05, between 0% and 100%");
        let (number, whole) = match given.trim().strip_suffix('%') {
            Some(number) => (number.trim(), 100.0),
            None => (given.trim(), 1.0),
        };
        let number: f64 = number.parse().map_err(|_| refuse("not a number"))?;
        let share = number / whole;
        if (0.0..=1.0).contains(&share) { Ok(Self(share)) } else { Err(refuse("out of range")) }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", (self.0 * 1e6).round() / 1e4)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("500", 500.0)]
    #[case(" 500/s ", 500.0)]
    #[case("90/m", 1.5)]
    #[case("0.5", 0.5)]
    #[case("0", 0.0)]
    fn valid_rates_are_parsed(#[case] given: &str, #[case] value: f64) {
        assert!((given.parse::<Rate>().unwrap().value() - value).abs() < 1e-9);
    }

    #[rstest]
    #[case("", "not a number")]
    #[case("many", "not a number")]
    #[case("-1", "out of range")]
    #[case("nan", "out of range")]
    #[case("inf", "out of range")]
    #[case("1e9", "out of range")]
    #[case("5/w", "unknown unit")]
    fn invalid_rates_are_rejected(#[case] given: &str, #[case] why: &str) {
        let error = given.parse::<Rate>().unwrap_err();
        assert!(error.why.contains(why), "{error}");
    }

    #[rstest]
    #[case("5%", 0.05)]
    #[case("0.05", 0.05)]
    #[case("100%", 1.0)]
    #[case("0", 0.0)]
    fn valid_shares_are_parsed(#[case] given: &str, #[case] value: f64) {
        assert!((given.parse::<Share>().unwrap().value() - value).abs() < 1e-9);
    }

    #[rstest]
    #[case("101%")]
    #[case("5")]
    #[case("-1%")]
    #[case("x")]
    #[case("nan")]
    fn invalid_shares_are_rejected(#[case] given: &str) {
        assert!(given.parse::<Share>().is_err());
    }

    proptest! {
        #[test]
        fn share_is_spread_evenly(share in 0.0..=1.0f64, count in 1u64..5_000) {
            let taken = (0..count).filter(|number| Share(share).takes(*number)).count() as f64;
            prop_assert!((taken - share * count as f64).abs() <= 1.0, "{taken} of {count}");
        }
    }
}
