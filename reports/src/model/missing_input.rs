use serde::{Deserialize, Serialize};

/// An input that cases lack, so that they do not apply to this run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MissingInput {
    /// The input, such as `a read token`.
    pub input: String,
    /// What to do, such as `set READ_TOKEN`.
    pub advice: String,
    /// Ids of the cases that lack it. A case can lack several inputs.
    pub cases: Vec<String>,
}
