use std::fmt;
use std::io::Write as _;

use miette::{Diagnostic, LabeledSpan, MietteHandlerOpts, ReportHandler as _, Severity, SourceCode};

use crate::error_text;

/// What stands in the way of a command, found before anything runs. Printed as `failed to …`, with what to do.
#[derive(Debug)]
pub(super) struct Failure(Box<dyn Diagnostic + Send + Sync>);

#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{what}")]
#[diagnostic(help("{advice}"))]
struct Plain {
    what: String,
    advice: String,
}

impl Failure {
    /// One that no error type of a library stands for.
    pub(super) fn plain(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self(Box::new(Plain { what: what.into(), advice: advice.into() }))
    }

    /// One that a library gives without advice.
    pub(super) fn of(error: &dyn std::error::Error, advice: &str) -> Self {
        Self::plain(error_text(error), advice)
    }

    /// One whose text stands on its own, below what it stood in the way of.
    pub(super) fn within(task: &str, error: &impl Diagnostic) -> Self {
        let advice = error.help().map(|help| help.to_string()).unwrap_or_default();
        Self::plain(format!("{task}: {}", error_text(error)), advice)
    }

    /// Prints it to standard error, in colour where that is a terminal, and after it what else is wrong in the same file,
    /// each as a failure of its own. Where nobody reads that, the exit code tells.
    pub(super) fn print(&self) {
        let also = self.0.related().into_iter().flatten();
        for diagnostic in std::iter::once(&*self.0 as &dyn Diagnostic).chain(also) {
            let _ = writeln!(std::io::stderr().lock(), "{}", Page(Failed(diagnostic)));
        }
    }
}

impl<D: Diagnostic + Send + Sync + 'static> From<D> for Failure
where
    D: NotAFailure,
{
    fn from(diagnostic: D) -> Self {
        Self(Box::new(diagnostic))
    }
}

/// The diagnostics of the libraries, so that `?` takes them.
pub(super) trait NotAFailure {}

impl NotAFailure for crate::mock::ReplyShapeError {}
impl NotAFailure for crate::run::BaselineError {}
impl NotAFailure for crate::run::PinError {}
impl NotAFailure for crate::run::PlanError {}
impl NotAFailure for crate::target::CommandError {}
impl NotAFailure for crate::target::BaseUrlError {}
impl NotAFailure for crate::target::PortNameError {}
impl NotAFailure for edgeproof_fixtures::credentials::SettingsError {}
impl NotAFailure for edgeproof_fixtures::spec::SpecError {}

/// One diagnostic, as it is printed.
struct Page<'d>(Failed<'d>);

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        MietteHandlerOpts::new().build().debug(&self.0, f)
    }
}

/// A diagnostic that says that it is one; without those related to it.
#[derive(Debug)]
struct Failed<'d>(&'d dyn Diagnostic);

impl fmt::Display for Failed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed to {}", self.0)
    }
}

impl std::error::Error for Failed<'_> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl Diagnostic for Failed<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.code()
    }

    fn severity(&self) -> Option<Severity> {
        self.0.severity()
    }

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
