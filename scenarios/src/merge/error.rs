use crate::measure::HistogramError;
use crate::plan::PlanError;

/// Why reports cannot be merged.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum MergeError {
    /// No report is given.
    #[error("merge reports: there are none")]
    #[diagnostic(help("name the JSON report of each shard"))]
    None,
    /// A shard is missing.
    #[error("merge the shards: {} of {count} are missing: {}", missing.len(), list(missing))]
    #[diagnostic(help(
        "name the report of every shard; one that did not run leaves a hole in the load, and the sum would look better than the truth"
    ))]
    Missing {
        /// Indices, from 0.
        missing: Vec<u32>,
        /// Number of shards.
        count: u32,
    },
    /// A shard is given twice.
    #[error("merge the shards: shard {index} is there twice")]
    #[diagnostic(help("name each report once"))]
    Twice {
        /// Index, from 0.
        index: u32,
    },
    /// The reports are of different runs.
    #[error("merge the shards: shard {index} is of another run: its {what} differs")]
    #[diagnostic(help("all shards are started with the same arguments, and with the same --seed"))]
    OtherRun {
        /// Index, from 0.
        index: u32,
        /// The property that differs.
        what: &'static str,
    },
    /// A threshold in a report is invalid.
    #[error("merge the shards: shard {index} was judged by {rule:?}, which is no threshold: {}", why.why)]
    #[diagnostic(help(
        "the report was changed after it was written, or the shard was given a limit below 1us: start the shards with one that can be told"
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
    #[error("merge the shards: shard {index} began at {started:?}, which is no time")]
    #[diagnostic(help("the report was changed after it was written"))]
    Started {
        /// Index, from 0.
        index: u32,
        /// The text in the report.
        started: String,
    },
    /// A histogram in a report is invalid.
    #[error(transparent)]
    #[diagnostic(help("the report was changed after it was written"))]
    Histogram(#[from] HistogramError),
    /// A timeline in a report is invalid.
    #[error("merge the time lines: their moments are of no width that is written")]
    #[diagnostic(help("the report was changed after it was written"))]
    Timeline,
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
