use std::fmt;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// Target of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Target"))]
pub struct ReportedTarget {
    /// How edgeproof reaches it.
    pub kind: TargetKind,
    /// Command line; set for a launched target.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
    /// URL; set for an attached target.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub url: Option<String>,
}

impl ReportedTarget {
    /// A target from its kind and its command or URL.
    pub fn new(kind: TargetKind, address: &str) -> Self {
        let of = |of: TargetKind| (kind == of).then(|| address.to_owned());
        Self { kind, command: of(TargetKind::Launched), url: of(TargetKind::Attached) }
    }

    /// Command or URL; empty for an embedded target.
    pub fn address(&self) -> &str {
        self.command.as_deref().or(self.url.as_deref()).unwrap_or_default()
    }
}

/// Kind and address: `launched node my-edge.mjs`.
impl fmt::Display for ReportedTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(format!("{} {}", self.kind.name(), self.address()).trim_end())
    }
}

/// How edgeproof reaches its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum TargetKind {
    /// The reference part, in this process.
    Embedded,
    /// A child process.
    Launched,
    /// A program that already runs, by its URL.
    Attached,
}

impl TargetKind {
    /// Name in every report.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
