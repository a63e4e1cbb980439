use crate::measure::HistogramError;
use crate::plan::PlanError;

/// Reports that are not the shards of one run.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum MergeError {
    /// Nothing to add up.
    #[error("merge reports: there are none")]
    #[diagnostic(help("name the JSON report of each shard"))]
    None,
    /// A shard is not there.
    #[error("merge the shards: {} of {count} are missing: {}", missing.len(), list(missing))]
    #[diagnostic(help(
        "name the report of every shard; one that did not run leaves a hole in the load, and the sum would look better than the truth"
    ))]
    Missing {
        /// Counted from 0.
        missing: Vec<u32>,
        /// How many there should be.
        count: u32,
    },
    /// A shard is there twice.
    #[error("merge the shards: shard {index} is there twice")]
    #[diagnostic(help("name each report once"))]
    Twice {
        /// Counted from 0.
        index: u32,
    },
    /// They are of different runs.
    #[error("merge the shards: shard {index} is of another run: its {what} differs")]
    #[diagnostic(help("all shards are started with the same arguments, and with the same --seed"))]
    OtherRun {
        /// Counted from 0.
        index: u32,
        /// What differs.
        what: &'static str,
    },
    /// A shard was judged by what is no threshold.
    #[error("merge the shards: shard {index} was judged by {rule:?}, which is no threshold: {}", why.why)]
    #[diagnostic(help(
        "the report was changed after it was written, or the shard was given a limit below 1us: start the shards with one that can be told"
    ))]
    Rule {
        /// Counted from 0.
        index: u32,
        /// As the report has it.
        rule: String,
        /// What is wrong with it.
        why: PlanError,
    },
    /// Nobody knows when a shard began.
    #[error("merge the shards: shard {index} began at {started:?}, which is no time")]
    #[diagnostic(help("the report was changed after it was written"))]
    Started {
        /// Counted from 0.
        index: u32,
        /// As the report has it.
        started: String,
    },
    /// A histogram in a report is none.
    #[error(transparent)]
    #[diagnostic(help("the report was changed after it was written"))]
    Histogram(#[from] HistogramError),
    /// A time line in a report is none.
    #[error("merge the time lines: their moments are of no width that is written")]
    #[diagnostic(help("the report was changed after it was written"))]
    Timeline,
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
