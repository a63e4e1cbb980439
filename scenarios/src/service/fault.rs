use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::plan::{PlanError, Share, parse_time};

/// What is done to a service on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Faults {
    /// Each answer takes so much longer.
    pub slow: Duration,
    /// Part of the collections that it refuses because its own check fails.
    pub failing: Share,
    /// When it is gone.
    pub down: Option<Down>,
    /// When it stalls.
    pub stalls: Option<Stalls>,
}

/// When a service is gone: connections are closed as soon as they are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Down {
    /// Since the start of the run.
    pub at: Duration,
    /// For so long.
    pub time: Duration,
}

/// When a service stalls: at the beginning of each period, until a part of it has passed, nothing is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stalls {
    /// From one stall to the next.
    pub period: Duration,
    /// How long each is.
    pub time: Duration,
}

impl Faults {
    /// Whether there is any.
    pub fn any(&self) -> bool {
        *self != Self::default()
    }
}

impl Stalls {
    /// How long something that arrives at a time has to wait.
    pub fn wait(&self, at: Duration) -> Duration {
        let into = Duration::from_nanos((at.as_nanos() % self.period.as_nanos()) as u64);
        self.time.saturating_sub(into)
    }

    /// What this part, 0 to 1, of what arrives evenly waits no longer than.
    pub fn quantile(&self, share: f64) -> Duration {
        let stalled = self.time.as_secs_f64() / self.period.as_secs_f64();
        self.time.mul_f64(((share - (1.0 - stalled)) / stalled).clamp(0.0, 1.0))
    }
}

impl FromStr for Down {
    type Err = PlanError;

    fn from_str(given: &str) -> Result<Self, PlanError> {
        let refuse = |why: String| PlanError {
            what: "when the service is down",
            given: given.to_owned(),
            why,
            advice: "write it as AT:FOR, such as 10s:2s: 10 s after the start, for 2 s",
        };
        let (at, time) = given.split_once(':').ok_or_else(|| refuse("it has no colon".into()))?;
        Ok(Self { at: parse_time(at).map_err(refuse)?, time: parse_time(time).map_err(refuse)? })
    }
}

impl fmt::Display for Down {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = humantime::format_duration;
        write!(f, "service down at {} for {}", time(self.at), time(self.time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_holds_what_arrives_in_it() {
        let stalls = Stalls { period: Duration::from_secs(2), time: Duration::from_secs(1) };
        let ms = Duration::from_millis;
        assert_eq!(
            [0, 300, 1000, 1999, 2300].map(|at| stalls.wait(ms(at)).as_millis()),
            [1000, 700, 0, 0, 700]
        );
        assert_eq!(
            [0.4, 0.5, 0.75, 0.9, 1.0].map(|share| stalls.quantile(share).as_millis()),
            [0, 0, 500, 800, 1000]
        );
    }

    #[test]
    fn when_it_is_down() {
        assert_eq!("10s:2s".parse::<Down>().unwrap().to_string(), "service down at 10s for 2s");
        assert!("10s".parse::<Down>().is_err());
        assert!("10s:0s".parse::<Down>().is_err());
    }
}
