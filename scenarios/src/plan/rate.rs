use std::fmt;
use std::str::FromStr;

use super::error::PlanError;

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

#[cfg(test)]
mod tests {
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
}
