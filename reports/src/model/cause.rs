use serde::{Deserialize, Serialize};

use super::outcome::CaseLevel;

/// A probable cause of failures and warnings. The cause that explains most failures comes first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cause {
    /// Stable slug of the cause, such as `body-parsed`. For failures without a known cause: the row id and the kind of
    /// difference, such as `statement.vary/header`.
    pub id: String,
    /// The mistake in one line.
    pub title: String,
    /// Id of the row that the best example breaks.
    pub row: String,
    /// The heaviest level of its mismatches.
    pub level: CaseLevel,
    /// Share of the cases that this cause usually fails and that failed, from 0 to 1.
    pub confidence: f64,
    /// Ids of the failed cases that it explains, the best example first.
    pub cases: Vec<String>,
    /// Ids of the cases that this cause usually fails and that passed.
    #[serde(default)]
    pub passed: Vec<String>,
    /// Index of the mismatch in the best example that shows the cause.
    #[serde(default)]
    pub mismatch: usize,
    /// What happens, and why it is wrong. Empty without a known cause.
    #[serde(default)]
    pub explanation: String,
    /// What to change.
    pub fix: String,
    /// The same in common frameworks.
    #[serde(default)]
    pub frameworks: Vec<FrameworkFix>,
    /// Command that runs the best example again, in the folder where this run was started.
    pub rerun: String,
}

/// How to fix a cause in one framework.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FrameworkFix {
    /// Name, such as `Express`.
    pub name: String,
    /// What to write there, as code or in words.
    pub fix: String,
}
