use std::str::FromStr;

use super::error::PlanError;

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
