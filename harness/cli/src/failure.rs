use std::fmt;
use std::io::Write as _;

use miette::{Diagnostic, LabeledSpan, MietteHandlerOpts, ReportHandler as _, SourceCode};

use super::error_text;
use super::exit_code::{INCOMPLETE, USAGE};

/// Why a command cannot run, with its exit code. Its text is a sentence such as `cannot read baseline known.txt: …`,
/// followed by advice.
#[derive(Debug)]
pub struct Failure {
    why: Why,
    code: u8,
}

#[derive(Debug)]
enum Why {
    Diagnostic(Box<dyn Diagnostic + Send + Sync>),
    /// Printed as it is.
    Arguments(clap::Error),
}

#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{what}")]
#[diagnostic(help("{advice}"))]
struct Plain {
    what: String,
    advice: String,
}

impl Failure {
    /// An invalid command or file, without an error type of a library.
    pub fn usage(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::from(Plain { what: what.into(), advice: advice.into() })
    }

    /// Invalid arguments, printed as at the start of the program.
    pub fn arguments(error: clap::Error) -> Self {
        Self { why: Why::Arguments(error), code: USAGE }
    }

    /// An error without advice of its own, with its sources.
    pub fn of(error: &dyn std::error::Error, advice: &str) -> Self {
        Self::usage(error_text(error), advice)
    }

    /// An error, after the sentence about the task that it stopped, such as `cannot start the edge`.
    pub fn within(task: &str, error: &impl Diagnostic) -> Self {
        let advice = error.help().map(|help| help.to_string()).unwrap_or_default();
        Self::usage(format!("{task}: {}", error_text(error)), advice)
    }

    /// The same failure for a valid command that could not run (exit code 3).
    #[must_use]
    pub fn incomplete(self) -> Self {
        Self { code: INCOMPLETE, ..self }
    }

    /// The same failure with the exit code of a signal.
    #[must_use]
    pub fn ended_by(self, code: u8) -> Self {
        Self { code, ..self }
    }

    /// Prints the failure to standard error, coloured on a terminal, then each related failure. Yields the exit code.
    pub fn print(&self) -> u8 {
        let diagnostic = match &self.why {
            Why::Diagnostic(diagnostic) => diagnostic,
            Why::Arguments(error) => {
                let _ = error.print();
                return self.code;
            }
        };
        let related = diagnostic.related().into_iter().flatten();
        for diagnostic in std::iter::once(&**diagnostic as &dyn Diagnostic).chain(related) {
            // Ignore a closed standard error: the exit code still reports the failure.
            let _ = writeln!(std::io::stderr().lock(), "{}", Page(Single(diagnostic)));
        }
        self.code
    }
}

impl<D: Diagnostic + Send + Sync + 'static> From<D> for Failure {
    fn from(diagnostic: D) -> Self {
        Self { why: Why::Diagnostic(Box::new(diagnostic)), code: USAGE }
    }
}

/// A diagnostic in its printed form, without wrapped lines: a path or command stays whole when it is copied.
struct Page<'d>(Single<'d>);

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        MietteHandlerOpts::new().wrap_lines(false).build().debug(&self.0, f)
    }
}

/// A diagnostic without its related diagnostics.
#[derive(Debug)]
struct Single<'d>(&'d dyn Diagnostic);

impl fmt::Display for Single<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.0, f)
    }
}

impl std::error::Error for Single<'_> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl Diagnostic for Single<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.help()
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.0.labels()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_prints_its_sentence_and_its_advice() {
        let failure = Failure::usage("cannot read x: it is empty", "write a line");
        let Why::Diagnostic(diagnostic) = failure.why else { panic!("{failure:?}") };
        let page = Page(Single(&*diagnostic)).to_string();
        assert!(page.contains("cannot read x: it is empty\n"), "{page}");
        assert!(page.contains("help: write a line"), "{page}");
    }
}
