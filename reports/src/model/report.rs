use std::fmt;

use serde::{Deserialize, Serialize};

use super::case::{CaseReport, Observation};
use super::cause::Cause;
use super::event::{Event, Reader};
use super::missing_input::MissingInput;
use super::release_version::ReleaseVersion;
use super::summary::{AddedLatency, Summary};
use super::target::ReportedTarget;

/// Value of the field `schema` in every report.
pub(crate) const SCHEMA: &str = "edgeproof.report/1";

/// A whole run; every file format is made from it. Scripts depend on these fields: add fields, never remove one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// Always `edgeproof.report/1`.
    #[cfg_attr(test, schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// Program that made the report.
    pub tool: Tool,
    /// Interface under test.
    pub spec: ReportedSpec,
    /// Target of the run.
    pub target: ReportedTarget,
    /// Start of the run, RFC 3339 in UTC.
    pub started: String,
    /// Wall time (ms).
    pub duration_ms: u64,
    /// Seed of the bodies and of the order.
    pub seed: u64,
    /// Version of edgeproof whose cases were played, if not all were.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub cases_of: Option<ReleaseVersion>,
    /// Number of cases that the part has, if the options select fewer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part_cases: Option<usize>,
    /// 0 conforms, 1 does not conform, 2 wrong command, 3 incomplete, 130 and 143 ended by a signal.
    pub exit_code: u8,
    /// Counts of `cases`.
    pub summary: Summary,
    /// Number of requests that the run sent to the target.
    #[serde(default)]
    pub exchange_count: u64,
    /// Every planned case, in the order of the plan.
    pub cases: Vec<CaseReport>,
    /// Probable causes of the failures and warnings, the one that explains most first.
    #[serde(default)]
    pub causes: Vec<Cause>,
    /// Behaviour of the target at open points, sorted.
    pub observations: Vec<Observation>,
    /// Pinned points that no case of the run observed, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unchecked_pins: Vec<String>,
    /// Inputs that cases lack, the one that most cases lack first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub missing_inputs: Vec<MissingInput>,
    /// Latency that the edge adds; set if both sides were measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latency: Option<AddedLatency>,
    /// Findings about the whole run.
    #[serde(default)]
    pub findings: Vec<String>,
}

/// Program that made the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Tool {
    /// Version of edgeproof.
    pub version: String,
}

/// Interface under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Spec"))]
pub struct ReportedSpec {
    /// `current` or `pre-seal`.
    pub version: String,
    /// Digest of the tables, hexadecimal.
    pub digest: String,
}

/// Names of the versions whose tables are built in. A later edgeproof may have other tables under the same name.
const BUILT_IN: [&str; 2] = ["current", "pre-seal"];

/// Characters of a digest in text.
const DIGEST: usize = 12;

impl ReportedSpec {
    /// Whether reports about both can be compared: the tables are equal, or those of one built-in version in two releases of
    /// edgeproof.
    pub fn is_comparable(&self, other: &Self) -> bool {
        self.digest == other.digest
            || (self.version == other.version && BUILT_IN.contains(&self.version.as_str()))
    }

    /// Version and the start of the digest.
    pub(crate) fn short(&self) -> String {
        format!("{} {}", self.version, self.short_digest())
    }

    /// The start of the digest.
    pub fn short_digest(&self) -> &str {
        self.digest.char_indices().nth(DIGEST).map_or(&self.digest, |(end, _)| &self.digest[..end])
    }
}

/// Version and digest: `current 3f2a9c01b7d4`.
impl fmt::Display for ReportedSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.version, self.digest)
    }
}

impl Report {
    /// Report of a run that starts.
    pub fn new(spec: ReportedSpec, target: ReportedTarget, seed: u64, started: String) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            tool: Tool { version: env!("CARGO_PKG_VERSION").to_owned() },
            spec,
            target,
            started,
            duration_ms: 0,
            seed,
            cases_of: None,
            part_cases: None,
            exit_code: 0,
            summary: Summary::default(),
            exchange_count: 0,
            cases: Vec::new(),
            causes: Vec::new(),
            observations: Vec::new(),
            unchecked_pins: Vec::new(),
            missing_inputs: Vec::new(),
            latency: None,
            findings: Vec::new(),
        }
    }

    /// Sends the events of the stored run to a reader, so that any format can show it.
    pub fn replay(&self, reader: &mut dyn Reader) -> std::io::Result<()> {
        reader.read(&Event::Planned {
            cases: self.cases.len(),
            spec: self.spec.clone(),
            target: self.target.clone(),
            seed: self.seed,
            cases_of: self.cases_of,
        });
        for case in &self.cases {
            reader.read(&Event::Ended(Box::new(case.clone())));
        }
        reader.read(&Event::Finished(Box::new(self.clone())));
        reader.finish()
    }
}
