use std::fmt;
use std::str::FromStr;

use super::error::PlanError;

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
