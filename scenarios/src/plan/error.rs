/// An invalid value on the command line or in a file. The text follows the prefix of clap: `invalid value 'x'
/// for '--rate <RATE>': …`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("read {what} {given:?}: {why}")]
#[diagnostic(help("{advice}"))]
pub struct PlanError {
    /// What was to be read, such as `the stages`.
    pub what: &'static str,
    /// The value.
    pub given: String,
    /// What is wrong.
    pub why: String,
    /// What to write instead.
    pub advice: &'static str,
}
