//! The report that people look at most.

mod ending;
mod live;
mod paint;
mod reader;

pub use reader::{Terminal, TerminalOptions};
