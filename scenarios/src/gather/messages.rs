use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::merge::RunDescription;

/// A process that plays a shard. Another process with the same index is another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardId {
    /// Index of the shard, from 0.
    pub index: u32,
    /// Number of the process, drawn by chance.
    pub process: u64,
}

/// What a shard asks of gather. The path of its request names it: `/v1/shards/INDEX/PROCESS/STEP`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Step {
    /// Take part. Body: [`Join`].
    Join,
    /// The time. Answer: [`ClockReading`].
    Clock,
    /// The start, once all shards are there. Answer: [`StartAnswer`].
    Start,
    /// Nothing: the shard still runs.
    Alive,
    /// Take the report. Body: the report as JSON.
    Report,
}

/// A shard that takes part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Join {
    /// The run that it would play.
    pub(super) run: RunDescription,
}

/// The time of gather.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClockReading {
    /// Microseconds since the Unix epoch.
    pub(super) now_us: i64,
}

/// Answer to a shard that waits for the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StartAnswer {
    /// The start by the clock of gather (µs since the Unix epoch). `None`: ask again.
    pub(super) start_us: Option<i64>,
}

/// Why gather refuses a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{what}")]
pub struct Refusal {
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub advice: String,
    /// Whether the command of the shard is wrong (exit code 2). Otherwise the run is incomplete (3).
    pub wrong_command: bool,
}

impl Refusal {
    /// A shard whose command is wrong.
    pub(super) fn wrong(what: impl Into<String>, advice: &str) -> Self {
        Self { what: what.into(), advice: advice.to_owned(), wrong_command: true }
    }

    /// A run that is incomplete.
    pub(super) fn incomplete(what: impl Into<String>, advice: &str) -> Self {
        Self { what: what.into(), advice: advice.to_owned(), wrong_command: false }
    }
}

impl ShardId {
    /// The path of a step, below the URL of gather.
    pub(super) fn path(self, step: Step) -> String {
        let name: &'static str = step.into();
        format!("/v1/shards/{self}/{name}")
    }

    /// The shard and the step of a path. `None`: it is no path of ours.
    pub(super) fn of_path(path: &str) -> Option<(Self, Step)> {
        // A proxy may put a folder in front.
        let (_, own) = path.rsplit_once("/v1/shards/")?;
        let mut parts = own.split('/');
        let [Some(index), Some(process), Some(step), None] = [(); 4].map(|()| parts.next()) else {
            return None;
        };
        let process = u64::from_str_radix(process, 16).ok()?;
        Some((Self { index: index.parse().ok()?, process }, Step::from_str(step).ok()?))
    }
}

impl fmt::Display for ShardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{:x}", self.index, self.process)
    }
}

/// A time as messages have it (µs since the Unix epoch).
pub(super) fn wall_us(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::root("/v1/shards/3/ff/join", Some((3, 255, Step::Join)))]
    #[case::folder("/gather/v1/shards/0/1/report", Some((0, 1, Step::Report)))]
    #[case::other_step("/v1/shards/3/ff/stop", None)]
    #[case::more("/v1/shards/3/ff/join/x", None)]
    #[case::less("/v1/shards/3/join", None)]
    #[case::no_number("/v1/shards/x/ff/join", None)]
    #[case::other("/", None)]
    fn paths_name_shard_and_step(#[case] path: &str, #[case] expected: Option<(u32, u64, Step)>) {
        let found = ShardId::of_path(path);
        assert_eq!(found.map(|(shard, step)| (shard.index, shard.process, step)), expected);
        if let Some((shard, step)) = found {
            assert!(path.ends_with(&shard.path(step)));
        }
    }
}
