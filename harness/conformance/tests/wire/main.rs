//! The wire of every row: what the page sends, what reaches the service, what both answer, as the reference edge has
//! it. A change of a table shows here as what it does to those who speak the interface.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which the lints do not know as such")]

mod played;
mod rows;
