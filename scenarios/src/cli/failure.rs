use std::fmt::Debug;

use miette::Diagnostic;

use super::exit_code::{EXIT_INCOMPLETE, EXIT_USAGE};

/// An error of a command, with advice. Printed as `failed to …`.
#[derive(Debug)]
pub(super) struct Failure {
    what: String,
    advice: Option<String>,
    code: u8,
}

impl Failure {
    /// The command, or a file it names, is wrong.
    pub(super) fn usage(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what: what.into(), advice: Some(advice.into()), code: EXIT_USAGE }
    }

    /// The same, from an error and its sources.
    pub(super) fn of(error: &dyn std::error::Error, advice: &str) -> Self {
        let mut what = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            what = format!("{what}: {error}");
            source = error.source();
        }
        Self::usage(what, advice)
    }

    /// The command is right, but the run is not possible.
    #[must_use]
    pub(super) fn incomplete(self) -> Self {
        Self { code: EXIT_INCOMPLETE, ..self }
    }

    /// A signal ended the command.
    #[must_use]
    pub(super) fn ended_by(self, code: u8) -> Self {
        Self { code, ..self }
    }

    /// Prints the error to standard error, and returns the exit code.
    #[expect(clippy::print_stderr, reason = "the command line prints its errors")]
    pub(super) fn print(self) -> u8 {
        eprintln!("failed to {}", self.what);
        if let Some(advice) = self.advice {
            eprintln!("  help: {}", advice.replace('\n', "\n  "));
        }
        self.code
    }
}

impl<D: Diagnostic> From<D> for Failure {
    fn from(error: D) -> Self {
        let advice = error.help().map(|help| help.to_string());
        Self { what: error.to_string(), advice, code: EXIT_USAGE }
    }
}
