//! Messages on both hops for every row: what page, edge and service send. A snapshot shows the effect of a changed table.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which the lints do not know as such")]

mod rows;
mod runs;
