//! The HTML report of a conformance run in a real Chromium, as a file. A missing Chromium fails these tests.

#![expect(clippy::unwrap_used, reason = "clippy exempts only functions marked as tests")]

mod filters;
mod hostile;
mod links;
mod opened;
mod reports;
mod size;
#[expect(dead_code, reason = "the target `browser` uses the rest")]
#[path = "../browser/support.rs"]
mod support;
