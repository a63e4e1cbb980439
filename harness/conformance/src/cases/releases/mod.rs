//! Released versions of edgeproof, and the cases that each added.

mod table;

pub use table::{Release, Releases, RemovedCase};
