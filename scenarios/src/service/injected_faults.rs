use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use edgeproof_cli::args::parse_duration;

use crate::plan::{PlanError, Share};

/// Faults injected into the mock service.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct InjectedFaults {
    /// Added to the time of each answer.
    pub slow: Duration,
    /// Share of collections that the mock refuses, as if its license check failed.
    pub failing: Share,
    /// When the mock is down.
    pub down: Option<Downtime>,
}

/// A period in which the mock closes every connection at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Downtime {
    /// Time from the start of the run.
    pub at: Duration,
    /// Length of the period.
    pub time: Duration,
}

impl InjectedFaults {
    /// The names in reports of the slow, failing and down fault.
    pub fn names(&self) -> [Option<String>; 3] {
        let slow = humantime::format_duration(self.slow);
        [
            (!self.slow.is_zero()).then(|| format!("service slower by {slow}")),
            (self.failing.value() > 0.0).then(|| format!("service failing {}", self.failing)),
            self.down.map(|down| down.to_string()),
        ]
    }

    /// Whether there is any fault.
    pub fn any(&self) -> bool {
        *self != Self::default()
    }
}

impl FromStr for Downtime {
    type Err = PlanError;

    fn from_str(given: &str) -> Result<Self, PlanError> {
        let advice = "write AT:FOR, such as 10s:2s: down 10 s after the start, for 2 s";
        let refuse = |why: String| PlanError::new(why, advice);
        let (at, time) = given.split_once(':').ok_or_else(|| refuse("no colon".into()))?;
        Ok(Self { at: parse_duration(at).map_err(refuse)?, time: parse_duration(time).map_err(refuse)? })
    }
}

impl fmt::Display for Downtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = humantime::format_duration;
        write!(f, "service down at {} for {}", time(self.at), time(self.time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downtime_is_parsed() {
        assert_eq!("10s:2s".parse::<Downtime>().unwrap().to_string(), "service down at 10s for 2s");
        assert!("10s".parse::<Downtime>().is_err());
        assert!("10s:0s".parse::<Downtime>().is_err());
    }
}
