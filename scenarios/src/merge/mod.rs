//! Merging the reports of shards.

mod error;
mod merged;
mod shards;
mod sums;
mod thresholds;

pub use error::MergeError;
pub use merged::merge;
