use std::fmt;
use std::str::FromStr;

use super::PlanError;

/// How many operations begin each second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Rate(f64);

/// A part of a whole, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Share(f64);

/// More than any machine that this runs on can begin in a second: a slip of the keyboard.
const HIGHEST: f64 = 10_000_000.0;
const RATE_ADVICE: &str = "write it as 500, 500/s, 90/m or 0.5: how many begin in that time";

impl Rate {
    /// So many each second. None for what is no rate.
    pub fn per_second(rate: f64) -> Option<Self> {
        (rate.is_finite() && (0.0..=HIGHEST).contains(&rate)).then_some(Self(rate))
    }

    /// Operations a second.
    pub fn value(self) -> f64 {
        self.0
    }

    /// This part of it.
    #[must_use]
    pub fn times(self, share: f64) -> Self {
        Self(self.0 * share)
    }
}

impl FromStr for Rate {
    type Err = PlanError;

    /// Zero is a rate: stages go down to it.
    fn from_str(given: &str) -> Result<Self, PlanError> {
        let refuse = |why: &str| PlanError {
            what: "the rate",
            given: given.to_owned(),
            why: why.to_owned(),
            advice: RATE_ADVICE,
        };
        let (number, seconds) = match given.trim().split_once('/') {
            None => (given.trim(), 1.0),
            Some((number, "s")) => (number, 1.0),
            Some((number, "m")) => (number, 60.0),
            Some((number, "h")) => (number, 3600.0),
            Some(_) => return Err(refuse("it is for neither /s, /m nor /h")),
        };
        let number: f64 = number.parse().map_err(|_| refuse("it is not a number"))?;
        if number < 0.0 {
            return Err(refuse("it is less than nothing"));
        }
        Self::per_second(number / seconds).ok_or_else(|| refuse("no machine begins so many in a second"))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", (self.0 * 1000.0).round() / 1000.0)
    }
}

impl Share {
    /// The part, 0 to 1.
    pub fn value(self) -> f64 {
        self.0
    }

    /// How many of the operations before the one of this number are in the share.
    pub fn taken_before(self, number: u64) -> u64 {
        (number as f64 * self.0).floor() as u64
    }

    /// Whether the operation of this number is in the share. Spread evenly: of any run of numbers, the share of them
    /// is, give or take one; and the same for every process that asks.
    pub fn takes(self, number: u64) -> bool {
        self.taken_before(number + 1) > self.taken_before(number)
    }
}

impl FromStr for Share {
    type Err = PlanError;

    fn from_str(given: &str) -> Result<Self, PlanError> {
        let refuse = |why: &str| PlanError {
            what: "the share",
            given: given.to_owned(),
            why: why.to_owned(),
            advice: "write it as 5% or 0.05: 0 to 100 %",
        };
        let (number, whole) = match given.trim().strip_suffix('%') {
            Some(number) => (number.trim(), 100.0),
            None => (given.trim(), 1.0),
        };
        let number: f64 = number.parse().map_err(|_| refuse("it is not a number"))?;
        let share = number / whole;
        if (0.0..=1.0).contains(&share) {
            Ok(Self(share))
        } else {
            Err(refuse("it is not a part of a whole"))
        }
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
    fn rates(#[case] given: &str, #[case] value: f64) {
        assert!((given.parse::<Rate>().unwrap().value() - value).abs() < 1e-9);
    }

    #[rstest]
    #[case("", "not a number")]
    #[case("many", "not a number")]
    #[case("-1", "less than nothing")]
    #[case("nan", "so many")]
    #[case("inf", "so many")]
    #[case("1e9", "so many")]
    #[case("5/w", "neither")]
    fn what_is_no_rate(#[case] given: &str, #[case] why: &str) {
        let error = given.parse::<Rate>().unwrap_err();
        assert!(error.why.contains(why), "{error}");
    }

    #[rstest]
    #[case("5%", 0.05)]
    #[case("0.05", 0.05)]
    #[case("100%", 1.0)]
    #[case("0", 0.0)]
    fn shares(#[case] given: &str, #[case] value: f64) {
        assert!((given.parse::<Share>().unwrap().value() - value).abs() < 1e-9);
    }

    #[rstest]
    #[case("101%")]
    #[case("5")]
    #[case("-1%")]
    #[case("x")]
    #[case("nan")]
    fn what_is_no_share(#[case] given: &str) {
        assert!(given.parse::<Share>().is_err());
    }

    proptest! {
        #[test]
        fn a_share_is_spread_evenly(share in 0.0..=1.0f64, count in 1u64..5_000) {
            let taken = (0..count).filter(|number| Share(share).takes(*number)).count() as f64;
            prop_assert!((taken - share * count as f64).abs() <= 1.0, "{taken} of {count}");
        }
    }
}
