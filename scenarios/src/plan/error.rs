/// An invalid value on the command line or in a file. The text follows the prefix of clap: `invalid value 'x' for '--rate
/// <RATE>': …`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}; {advice}")]
pub struct PlanError {
    /// What is wrong.
    pub why: String,
    /// What to write instead.
    pub advice: &'static str,
}

impl PlanError {
    pub(crate) fn new(why: impl Into<String>, advice: &'static str) -> Self {
        Self { why: why.into(), advice }
    }
}
