//! The edge under test: embedded, launched, or attached to.

mod log;

pub use log::{LogLine, LogTail, Stream};
