use std::str::FromStr;
use std::time::Duration;

use super::amounts::PlanError;
use super::stages::Stages;

/// Intended start times of operations in the open model, computed before the run.
///
/// The times are evenly spaced. Where a shard's rate exceeds 2,000 per second at some time, its operations start in groups
/// of up to five, at most 0.5 ms early: to wake for each one costs more CPU than its request, and a target on the same
/// machine needs this CPU.
///
/// A Poisson process is closer to independent visitors, but its randomness would
/// add to every figure: two runs would not compare, shards would not add up to one run, and the self-test
/// could not compute its expected values. For a burst, use a stage.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrivals {
    segments: Vec<Segment>,
    /// Operations of the whole run, over all shards.
    whole: u64,
    /// End of the warm-up, since the start of the run.
    pub warm_up: Duration,
    /// End of the last stage, since the start of the run.
    pub end: Duration,
    /// Time between two groups of operations (seconds).
    group: Option<f64>,
    shard: Shard,
}

/// Maximum time between two groups of operations (seconds).
const MAX_GROUP: f64 = 0.000_5;
/// Operations of a group at the peak rate. The last one is sent after the others: about 10 µs later for each of them.
const GROUP_SIZE: f64 = 5.0;

/// The plan of one operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScheduledOperation {
    /// Number in the whole run, unique over all shards.
    pub number: u64,
    /// Intended start, since the start of the run.
    pub at: Duration,
    /// Whether the operation is measured; `false` during the warm-up.
    pub measured: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Segment {
    begins: f64,
    time: f64,
    from: f64,
    to: f64,
    /// Operations before the segment.
    before: f64,
}

impl Arrivals {
    /// Arrivals of one shard. Operations within `warm_up` are not measured.
    pub fn new(stages: &Stages, warm_up: Duration, shard: Shard) -> Self {
        let mut segments = Vec::new();
        let (mut begins, mut before) = (0.0, 0.0);
        for stage in stages.stages() {
            let (time, from, to) = (stage.time.as_secs_f64(), stage.from.value(), stage.to.value());
            segments.push(Segment { begins, time, from, to, before });
            begins += time;
            before += f64::midpoint(from, to) * time;
        }
        // An operation due exactly at the end does not start: rounding must not add it.
        let whole = (before - 1e-6).ceil().max(0.0) as u64;
        let peak = stages.peak().value() / f64::from(shard.count());
        let group = (peak * MAX_GROUP > 1.0).then(|| MAX_GROUP.min(GROUP_SIZE / peak));
        Self { segments, whole, warm_up, end: Duration::from_secs_f64(begins), group, shard }
    }

    /// Number of operations of this shard.
    pub fn count(&self) -> u64 {
        self.shard.part_of(self.whole)
    }

    /// The n-th operation of this shard, from 0.
    pub fn get(&self, local: u64) -> ScheduledOperation {
        let number = self.shard.number(local);
        let mut at = self.time_of(number as f64);
        if let Some(group) = self.group {
            // Rounding errors of an exact multiple must not move it to the group before.
            at = (at / group + 1e-6).floor() * group;
        }
        // Microseconds are the resolution of all measurements.
        ScheduledOperation {
            number,
            at: Duration::from_micros((at * 1e6).round() as u64),
            measured: at + 1e-9 >= self.warm_up.as_secs_f64(),
        }
    }

    /// Number of operations of this shard due before a time.
    pub fn before(&self, time: Duration) -> u64 {
        let mut time = time.as_secs_f64();
        if let Some(group) = self.group {
            time = (time / group - 1e-6).ceil() * group;
        }
        let whole = self.began_by(time);
        self.shard.part_of(((whole - 1e-6).ceil().max(0.0) as u64).min(self.whole))
    }

    /// Operations of this shard per second at a time; 0 after the end.
    pub fn rate_at(&self, time: Duration) -> f64 {
        let at = time.as_secs_f64();
        let segment = self.segments.iter().find(|segment| at < segment.begins + segment.time);
        let whole = segment
            .map_or(0.0, |Segment { begins, time, from, to, .. }| from + (to - from) * (at - begins) / time);
        whole / f64::from(self.shard.count())
    }

    fn time_of(&self, number: f64) -> f64 {
        let place = self.segments.partition_point(|segment| segment.before <= number).saturating_sub(1);
        let Segment { begins, time, from, to, before } = self.segments[place];
        let count = number - before;
        if count <= 0.0 {
            return begins;
        }
        // count = from·x + growth·x²/2, solved without a division by 0 for a constant rate and for a start at
        // 0.
        let growth = (to - from) / time;
        let root = (from * from + 2.0 * growth * count).max(0.0).sqrt();
        begins + (2.0 * count / (from + root)).min(time)
    }

    fn began_by(&self, at: f64) -> f64 {
        let place = self.segments.partition_point(|segment| segment.begins <= at).saturating_sub(1);
        let Segment { begins, time, from, to, before } = self.segments[place];
        let x = (at - begins).clamp(0.0, time);
        before + from * x + (to - from) / time * x * x / 2.0
    }
}

/// One part of a run that several processes share: its index, from 0, and the number of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    count: u32,
}

const JOB_ADVICE: &str =
    "a Kubernetes Indexed Job sets it, from 0 to completions - 1; outside of one, give --shard I/N";
const ADVICE: &str = "write I/N with I from 0: four shards are 0/4, 1/4, 2/4 and 3/4";

impl Shard {
    /// The only shard of a run.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// A shard; `None` if the index is not below the count.
    pub fn new(index: u32, count: u32) -> Option<Self> {
        (index < count && count <= 10_000).then_some(Self { index, count })
    }

    /// The shard of a pod in a Kubernetes Indexed Job.
    pub fn of_job(index: Option<&str>, count: u32) -> Result<Self, PlanError> {
        let refuse = |why: String| PlanError::new(why, JOB_ADVICE);
        let given = index.ok_or_else(|| refuse("not set".into()))?;
        let number = given.parse().map_err(|_| refuse(format!("{given:?} is not a whole number")))?;
        Self::new(number, count).ok_or_else(|| refuse(format!("{number} is not below the number of shards")))
    }

    /// Index, from 0.
    pub fn index(self) -> u32 {
        self.index
    }

    /// Number of shards.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Number in the whole run of this shard's n-th operation. Shards take turns, so that together they start
    /// the same operations at the same times as one process.
    pub fn number(self, local: u64) -> u64 {
        local * u64::from(self.count) + u64::from(self.index)
    }

    /// How many of the first `whole` operations of the run belong to this shard.
    pub fn part_of(self, whole: u64) -> u64 {
        (whole + u64::from(self.count) - 1 - u64::from(self.index)) / u64::from(self.count)
    }
}

impl FromStr for Shard {
    type Err = PlanError;

    fn from_str(given: &str) -> Result<Self, PlanError> {
        let refuse = |why: &str| PlanError::new(why, ADVICE);
        let (index, count) = given.split_once('/').ok_or_else(|| refuse("no slash"))?;
        let number = |text: &str| text.parse::<u32>().map_err(|_| refuse("not two whole numbers"));
        let (index, count) = (number(index)?, number(count)?);
        if count == 0 {
            return Err(refuse("0 shards"));
        }
        Self::new(index, count).ok_or_else(|| refuse("index not below the count"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::plan::Rate;

    fn arrivals(stages: &str) -> Arrivals {
        Arrivals::new(&stages.parse().unwrap(), Duration::ZERO, Shard::WHOLE)
    }

    #[test]
    fn constant_rate_is_evenly_spaced() {
        let stages = Stages::constant(Rate::per_second(4.0).unwrap(), Duration::from_secs(2)).unwrap();
        let arrivals = Arrivals::new(&stages, Duration::from_millis(500), Shard::WHOLE);
        assert_eq!(arrivals.count(), 8);
        let times: Vec<_> = (0..8).map(|n| arrivals.get(n).at.as_millis()).collect();
        assert_eq!(times, [0, 250, 500, 750, 1000, 1250, 1500, 1750]);
        assert_eq!((0..8).filter(|n| arrivals.get(*n).measured).count(), 6);
    }

    #[rstest]
    #[case("10s:100", 500)]
    #[case("10s:100,30s:500,10s:0", 500 + 9_000 + 2_500)]
    #[case("1s:1,1s:0", 1)]
    fn count_is_the_area_under_the_stages(#[case] stages: &str, #[case] count: u64) {
        assert_eq!(arrivals(stages).count(), count);
    }

    #[rstest]
    #[case(0, 0.0)]
    #[case(5, 50.0)]
    #[case(12, 100.0)]
    #[case(40, 0.0)]
    fn rate_follows_the_stages(#[case] at: u64, #[case] rate: f64) {
        let found = arrivals("10s:100,10s:100").rate_at(Duration::from_secs(at));
        assert!((found - rate).abs() < 1e-9, "{found}");
    }

    #[test]
    fn high_rates_start_in_groups() {
        let stages = Stages::constant(Rate::per_second(4000.0).unwrap(), Duration::from_secs(1)).unwrap();
        let arrivals = Arrivals::new(&stages, Duration::ZERO, Shard::WHOLE);
        let times = |from: u64| (from..from + 4).map(|n| arrivals.get(n).at.as_micros()).collect::<Vec<_>>();
        assert_eq!(times(0), [0, 0, 500, 500]);
        assert_eq!(times(3_996), [999_000, 999_000, 999_500, 999_500]);
        // A group counts as a whole after it begins.
        let before = |micros| arrivals.before(Duration::from_micros(micros));
        assert_eq!([0, 1, 500, 501].map(before), [0, 2, 2, 4]);
    }

    #[test]
    fn ramp_becomes_denser() {
        let arrivals = arrivals("10s:100");
        assert_eq!(arrivals.get(0).at, Duration::ZERO);
        // 5·t² operations are due by t: 125 by 5 s.
        assert_eq!(arrivals.get(125).at, Duration::from_secs(5));
        assert_eq!(arrivals.before(Duration::from_secs(5)), 125);
    }

    proptest! {
        #[test]
        fn arrivals_are_sorted_and_counted(
            rates in prop::collection::vec(0.0..300.0f64, 1..5), scale in prop::sample::select(vec![1.0, 10.0]),
            time in 1u64..8, index in 0u32..3, probe in 0.0..40.0f64,
        ) {
            let rates: Vec<f64> = rates.iter().map(|rate| rate * scale).collect();
            let text: Vec<_> = rates.iter().map(|rate| format!("{time}s:{rate}")).collect();
            let Ok(stages) = text.join(",").parse::<Stages>() else { return Ok(()) };
            let arrivals = Arrivals::new(&stages, Duration::ZERO, Shard::new(index, 3).unwrap());
            let times: Vec<_> = (0..arrivals.count()).map(|n| arrivals.get(n).at).collect();
            prop_assert!(times.is_sorted());
            prop_assert!(times.last().is_none_or(|last| *last <= arrivals.end));
            let probe = Duration::from_secs_f64(probe);
            let before = times.iter().filter(|time| **time < probe).count() as u64;
            // An operation due exactly at the probed time, or at the limit of a group, may count on either side.
            prop_assert!(before.abs_diff(arrivals.before(probe)) <= 1);
        }

        #[test]
        fn shards_interleave_into_the_whole_run(count in 1u32..6, rate in prop_oneof![1.0..200.0f64, 2_000.0..5_000.0f64]) {
            let stages = Stages::constant(Rate::per_second(rate).unwrap(), Duration::from_secs(3)).unwrap();
            let of = |shard| {
                let arrivals = Arrivals::new(&stages, Duration::from_secs(1), shard);
                (0..arrivals.count()).map(move |n| arrivals.get(n)).collect::<Vec<_>>()
            };
            let mut together: Vec<_> = (0..count).flat_map(|index| of(Shard::new(index, count).unwrap())).collect();
            together.sort_by_key(|scheduled| scheduled.number);
            let whole = of(Shard::WHOLE);
            prop_assert_eq!(together.len(), whole.len());
            for (part, whole) in together.iter().zip(&whole) {
                prop_assert_eq!(part.number, whole.number);
                // Each shard has its own groups.
                prop_assert!(part.at.abs_diff(whole.at) <= Duration::from_micros(501));
            }
        }
    }

    #[rstest]
    #[case("0/1", 0, 1)]
    #[case("3/4", 3, 4)]
    fn valid_shards_are_parsed(#[case] given: &str, #[case] index: u32, #[case] count: u32) {
        assert_eq!(given.parse::<Shard>().ok(), Shard::new(index, count));
    }

    #[rstest]
    #[case("4/4", "not below the count")]
    #[case("0/0", "0 shards")]
    #[case("1", "no slash")]
    #[case("-1/4", "whole numbers")]
    #[case("a/b", "whole numbers")]
    fn invalid_shards_are_rejected(#[case] given: &str, #[case] why: &str) {
        let error = given.parse::<Shard>().unwrap_err();
        assert!(error.why.contains(why), "{error}");
    }

    #[rstest]
    #[case(Some("2"), 4, Ok(2))]
    #[case(Some("4"), 4, Err("not below"))]
    #[case(Some("x"), 4, Err("not a whole number"))]
    #[case(None, 4, Err("not set"))]
    fn job_index_selects_the_shard(
        #[case] index: Option<&str>,
        #[case] count: u32,
        #[case] expected: Result<u32, &str>,
    ) {
        match (Shard::of_job(index, count), expected) {
            (Ok(shard), Ok(index)) => assert_eq!(Some(shard), Shard::new(index, count)),
            (Err(error), Err(why)) => assert!(error.why.contains(why), "{error}"),
            other => panic!("{other:?}"),
        }
    }

    proptest! {
        #[test]
        fn shards_add_up_to_the_whole_run(count in 1u32..20, whole in 0u64..500) {
            let mut numbers: Vec<u64> = (0..count)
                .map(|index| Shard::new(index, count).unwrap())
                .flat_map(|shard| (0..shard.part_of(whole)).map(move |local| shard.number(local)))
                .collect();
            numbers.sort_unstable();
            prop_assert_eq!(numbers, (0..whole).collect::<Vec<_>>());
        }
    }
}
