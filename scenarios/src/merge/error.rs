use crate::measure::HistogramError;
use crate::plan::PlanError;

/// Why reports cannot be merged.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum MergeError {
    /// No report is given.
    #[error("cannot merge reports: none is given")]
    #[diagnostic(help("give the JSON report of each shard"))]
    None,
    /// A shard is missing.
    #[error("cannot merge the shards: {} of {count} are missing: {}", missing.len(), list(missing))]
    #[diagnostic(help("give the report of every shard; the sum is wrong if a shard is missing"))]
    Missing {
        /// Indices, from 0.
        missing: Vec<u32>,
        /// Number of shards.
        count: u32,
    },
    /// A shard is given twice.
    #[error("cannot merge the shards: shard {index} is given twice")]
    #[diagnostic(help("give each report once"))]
    Twice {
        /// Index, from 0.
        index: u32,
    },
    /// A report was edited.
    #[error(
        "cannot merge the shards: shard {index} was edited: its index, number of shards, operations and seed do not match \
         its digest"
    )]
    #[diagnostic(help("give the report as the shard wrote it, or run that shard again"))]
    Edited {
        /// Index in the report, from 0.
        index: u32,
    },
    /// The reports are of different runs.
    #[error("cannot merge the shards: shard {index} is of another run: its {what} differs")]
    #[diagnostic(help("start all shards with the same arguments and the same --seed"))]
    OtherRun {
        /// Index, from 0.
        index: u32,
        /// The property that differs.
        what: &'static str,
    },
    /// A threshold in a report is invalid.
    #[error("cannot merge the shards: shard {index} has the invalid threshold {rule:?}: {}", why.why)]
    #[diagnostic(help(
        "the report was changed after it was written, or the limit is below 1us: start the shards again with a higher limit"
    ))]
    Rule {
        /// Index, from 0.
        index: u32,
        /// The rule in the report.
        rule: String,
        /// Cause.
        why: PlanError,
    },
    /// A start time in a report is invalid.
    #[error("cannot merge the shards: shard {index} has the invalid start time {started:?}")]
    #[diagnostic(help("the report was changed after it was written"))]
    Started {
        /// Index, from 0.
        index: u32,
        /// The text in the report.
        started: String,
    },
    /// A histogram in a report is invalid.
    #[error("cannot merge the shards: {0}")]
    #[diagnostic(help("the report was changed after it was written"))]
    Histogram(#[from] HistogramError),
    /// A timeline in a report is invalid.
    #[error("cannot merge the timelines: the width of their moments is invalid")]
    #[diagnostic(help("the report was changed after it was written"))]
    Timeline,
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
