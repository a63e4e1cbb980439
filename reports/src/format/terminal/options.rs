use crate::model::{Report, Titles};

/// Options of the terminal report. The caller checks whether its output is a terminal and `NO_COLOR` is set.
#[derive(Debug, Clone)]
pub struct TerminalOptions {
    /// Coloured output.
    pub color: bool,
    /// Progress line at the bottom; needs a terminal that understands `\r` and `ESC [ K`.
    pub live: bool,
    /// All failures and warnings in full; otherwise a failing run prints about 60 lines.
    pub details: bool,
    /// Only failures, findings, notices, the result, and what limits it: why cases could not run or do not apply, open
    /// points that often are a mistake, and pins that were not checked.
    pub quiet: bool,
    /// Also observations and the ids of cases that do not apply; otherwise these are only counted.
    pub verbose: bool,
    /// Width of wrapped prose, in columns. Values, commands and exchanges are not wrapped, so that they can be copied.
    pub width: usize,
    /// Titles of the sections.
    pub titles: Titles,
    /// Name of the target, if it is embedded.
    pub embedded: &'static str,
    /// Options that commands about the interface need, such as ` --spec next.toml`; empty for the current one.
    pub interface_options: String,
    /// How to see every case in full.
    pub in_full: &'static str,
    /// A run to compare with.
    pub earlier: Option<EarlierRun>,
}

/// A run before this one, with the name of its report.
#[derive(Debug, Clone)]
pub struct EarlierRun {
    /// Name of the report.
    pub name: String,
    /// The report.
    pub report: Report,
}

impl Default for TerminalOptions {
    /// Plain, 100 columns.
    fn default() -> Self {
        Self {
            color: false,
            live: false,
            details: false,
            quiet: false,
            verbose: false,
            width: 100,
            titles: Titles::new(),
            embedded: "reference edge",
            interface_options: String::new(),
            in_full: "--details, or --report html=FILE",
            earlier: None,
        }
    }
}
