use std::fmt::Debug;

use miette::Diagnostic;

use super::exit_code::{EXIT_INCOMPLETE, EXIT_USAGE};

/// What stands in the way of a command. Printed as `failed to …`, with what to do.
#[derive(Debug)]
pub(super) struct Failure {
    what: String,
    advice: Option<String>,
    code: u8,
}

impl Failure {
    /// The command, or a file that it names, is wrong.
    pub(super) fn usage(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what: what.into(), advice: Some(advice.into()), code: EXIT_USAGE }
    }

    /// The same, from an error with its causes.
    pub(super) fn of(error: &dyn std::error::Error, advice: &str) -> Self {
        let mut what = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            what = format!("{what}: {error}");
            source = error.source();
        }
        Self::usage(what, advice)
    }

    /// It could not run; nothing is wrong with the command.
    #[must_use]
    pub(super) fn incomplete(self) -> Self {
        Self { code: EXIT_INCOMPLETE, ..self }
    }

    /// A signal ended it.
    #[must_use]
    pub(super) fn ended_by(self, code: u8) -> Self {
        Self { code, ..self }
    }

    /// Prints it to standard error, and yields what to exit with.
    #[expect(clippy::print_stderr, reason = "the command line prints")]
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
