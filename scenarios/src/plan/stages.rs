use std::str::FromStr;
use std::time::Duration;

use edgeproof_cli::args::parse_duration;

use super::amounts::PlanError;
use super::amounts::Rate;

/// A linear change of the rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stage {
    /// Duration of the stage.
    pub time: Duration,
    /// Rate at the start.
    pub from: Rate,
    /// Rate at the end.
    pub to: Rate,
}

/// Consecutive stages: at least one, and not all at rate 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Stages(Vec<Stage>);

/// Longest valid run. A longer run is a typo.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);
const ADVICE: &str = "write TIME:RATE, separated by commas: 10s:100,30s:500,10s:0 goes from 0 to 100/s in 10 s, to 500/s in 30 s, and to 0 in \
     10 s";

impl Stages {
    /// One stage with a constant rate; `None` for a rate or a duration of 0.
    pub fn constant(rate: Rate, time: Duration) -> Option<Self> {
        (rate.value() > 0.0 && !time.is_zero() && time <= LONGEST)
            .then(|| Self(vec![Stage { time, from: rate, to: rate }]))
    }

    /// The stages.
    pub fn stages(&self) -> &[Stage] {
        &self.0
    }

    /// Total duration.
    pub fn time(&self) -> Duration {
        self.0.iter().map(|stage| stage.time).sum()
    }

    /// Highest rate.
    pub fn peak(&self) -> Rate {
        let rates = self.0.iter().flat_map(|stage| [stage.from, stage.to]);
        rates.fold(Rate::default(), |peak, rate| if rate > peak { rate } else { peak })
    }

    /// Adds a warm-up stage in front: at the first rate, or at half the peak if the first rate is 0.
    #[must_use]
    pub fn warmed_up(mut self, time: Duration) -> Self {
        if time.is_zero() {
            return self;
        }
        let first = self.0[0].from;
        let rate = if first.value() > 0.0 { first } else { self.peak().times(0.5) };
        self.0.insert(0, Stage { time, from: rate, to: rate });
        self
    }
}

impl FromStr for Stages {
    type Err = PlanError;

    fn from_str(given: &str) -> Result<Self, PlanError> {
        let refuse = |why: String| PlanError::new(why, ADVICE);
        let mut stages = Vec::new();
        let mut from = Rate::default();
        for (position, part) in given.split(',').enumerate() {
            let place = position + 1;
            let (time, rate) = part
                .split_once(':')
                .ok_or_else(|| refuse(format!("stage {place} ({part:?}) has no colon")))?;
            let time =
                parse_duration(time).map_err(|why| refuse(format!("duration of stage {place}: {why}")))?;
            let to: Rate = rate
                .parse()
                .map_err(|error: PlanError| refuse(format!("rate of stage {place}: {}", error.why)))?;
            stages.push(Stage { time, from, to });
            from = to;
        }
        let stages = Self(stages);
        if stages.peak().value() == 0.0 {
            return Err(refuse("every rate is 0".into()));
        }
        if stages.time() > LONGEST {
            return Err(refuse("the stages last longer than a week".into()));
        }
        Ok(stages)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Seconds and rates of each stage.
    fn parts(stages: &Stages) -> Vec<(u64, f64, f64)> {
        let part = |stage: &Stage| (stage.time.as_secs(), stage.from.value(), stage.to.value());
        stages.stages().iter().map(part).collect()
    }

    #[test]
    fn stage_starts_at_the_rate_of_the_previous_one() {
        let stages: Stages = "10s:100,30s:500,10s:0".parse().unwrap();
        assert_eq!(parts(&stages), [(10, 0.0, 100.0), (30, 100.0, 500.0), (10, 500.0, 0.0)]);
        assert_eq!(stages.time(), Duration::from_secs(50));
        assert_eq!(stages.peak(), Rate::per_second(500.0).unwrap());
    }

    #[test]
    fn warm_up_is_the_first_stage() {
        let time = Duration::from_secs(5);
        let constant = Stages::constant(Rate::per_second(7.0).unwrap(), time).unwrap();
        assert_eq!(parts(&constant.clone().warmed_up(time)), [(5, 7.0, 7.0), (5, 7.0, 7.0)]);
        assert_eq!(constant.clone().warmed_up(Duration::ZERO), constant);
        let ramp: Stages = "10s:100".parse().unwrap();
        assert_eq!(parts(&ramp.warmed_up(time)), [(5, 50.0, 50.0), (10, 0.0, 100.0)]);
    }

    #[rstest]
    #[case("", "no colon")]
    #[case("10s", "no colon")]
    #[case("10s:100,", "no colon")]
    #[case("10s:100,,5s:1", "no colon")]
    #[case("ten:100", "duration of stage 1")]
    #[case("10s:100,0s:100", "longer than zero")]
    #[case("10s:many", "rate of stage 1")]
    #[case("10s:-5", "out of range")]
    #[case("10s:0,5s:0", "every rate is 0")]
    #[case("8days:5", "longer than a week")]
    fn invalid_stages_are_rejected(#[case] given: &str, #[case] why: &str) {
        let error = given.parse::<Stages>().unwrap_err();
        assert!(error.why.contains(why), "{error}");
    }
}
