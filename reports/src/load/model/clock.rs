use serde::{Deserialize, Serialize};

/// The clock of a shard, compared with one that all shards see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Clock"))]
pub struct ClockFigures {
    /// Difference from the reference clock.
    pub offset: ClockOffset,
    /// Step of one of the two clocks during the run (µs): positive if the shard's clock went ahead. 0: none was seen.
    #[serde(default)]
    pub step_us: i64,
}

/// How far the clock of a shard is ahead of a reference clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum ClockOffset {
    /// Estimated.
    Known {
        /// The reference clock.
        reference: ReferenceClock,
        /// How far the shard's clock was ahead at the start of the run (µs); negative if it was behind.
        ahead_us: i64,
        /// Uncertainty of `ahead_us` (µs, to either side).
        uncertainty_us: u64,
        /// How much faster the shard's clock runs (parts per million). None if the run was too short to tell.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        drift_ppm: Option<f64>,
        /// Uncertainty of `drift_ppm`, to either side.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        drift_uncertainty_ppm: Option<f64>,
    },
    /// It could not be estimated.
    Unknown {
        /// Reason.
        reason: UnknownClock,
    },
}

/// A clock that all shards see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReferenceClock {
    /// The target's, by the `Date` of its answers.
    Target,
    /// That of `edgeproof-load gather`.
    Gather,
}

/// Why the offset of a clock is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UnknownClock {
    /// Each shard has a target of its own, so its `Date` is of the shard's machine.
    OwnTarget,
    /// No answer of the target has a `Date`.
    NoDate,
    /// The `Date`s contradict each other: several servers with different clocks give them.
    SeveralClocks,
}

impl ReferenceClock {
    /// Its name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Target => "the target's",
            Self::Gather => "the clock of gather",
        }
    }
}

impl UnknownClock {
    /// The reason as a clause.
    pub fn text(self) -> &'static str {
        match self {
            Self::OwnTarget => "each shard has a target of its own",
            Self::NoDate => "the target's answers have no Date",
            Self::SeveralClocks => "the target's Dates are of several clocks",
        }
    }
}
