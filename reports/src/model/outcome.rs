use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

/// Result of a case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(IntoStaticStr, VariantArray)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[strum(serialize_all = "kebab-case")]
pub enum Outcome {
    /// The target behaved as expected.
    Pass,
    /// The target broke a `must`.
    Fail,
    /// The target broke a `should`.
    Warn,
    /// The case failed, and the baseline lists it.
    Known,
    /// An open point: reported, never judged.
    Observed,
    /// The case does not apply to this mode or version of the interface.
    NotApplicable,
    /// The case was planned but could not run; it proves nothing.
    #[default]
    NotRun,
}

impl Outcome {
    /// Every outcome, in report order.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Name in JSON, such as `not-run`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Name in text, such as `not run`.
    pub fn label(self) -> &'static str {
        match self {
            Self::NotApplicable => "not applicable",
            Self::NotRun => "not run",
            other => other.name(),
        }
    }
}

/// Weight of a case or a mismatch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[strum(serialize_all = "lowercase")]
pub enum CaseLevel {
    /// A mismatch is a `fail`.
    #[default]
    Must,
    /// A mismatch is a `warn`.
    Should,
    /// Never judged.
    Open,
}

impl CaseLevel {
    /// Name in every report.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Authority behind an expectation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[strum(serialize_all = "lowercase")]
pub enum CaseBasis {
    /// The interface states it.
    #[default]
    Interface,
    /// A public standard states it.
    Standard,
    /// A violation exposes a credential or an end user.
    Security,
}

impl CaseBasis {
    /// Name in every report.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
