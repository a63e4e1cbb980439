//! Messages on both hops for every row: what page, edge and service send. A snapshot shows the effect of a changed table.

mod rows;
mod runs;
