//! Formats of a conformance run: one module each.

mod file;
mod github;
mod html;
mod json;
mod junit;
mod markdown;
mod terminal;

pub use file::{FileReport, Format, render};
pub use github::Github;
pub use terminal::{EarlierRun, Terminal, TerminalOptions};
