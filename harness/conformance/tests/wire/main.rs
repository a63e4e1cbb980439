//! Messages on both hops for every row: what page, edge and service send. A snapshot shows the effect of a changed table.
#![expect(clippy::unwrap_used, reason = "the lints do not recognise test helpers")]

mod rows;
mod runs;
