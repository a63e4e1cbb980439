//! Terminal output: progress during the run, causes and result at its end.

mod causes;
mod ending;
mod options;
mod printer;
mod progress;

pub use options::{EarlierRun, TerminalOptions};
pub use printer::Terminal;
