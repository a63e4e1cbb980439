/// A text on the command line, or a line of a file, that makes no sense; with what would.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("read {what} {given:?}: {why}")]
#[diagnostic(help("{advice}"))]
pub struct PlanError {
    /// What was to be read, such as `the stages`.
    pub what: &'static str,
    /// As it was given.
    pub given: String,
    /// What is wrong with it.
    pub why: String,
    /// What to write instead.
    pub advice: &'static str,
}
