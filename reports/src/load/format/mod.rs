//! Formats of a load run.

mod chart;
mod charts;
mod file;
mod html;
mod json;
mod junit;
mod markdown;
mod phrases;
mod terminal;

pub use file::{LoadFile, render};
pub use terminal::render as terminal;
