//! The report for programs: `edgeproof.report/1`. Others script against its fields; new ones may be added, none go.

use std::path::Path;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{AddedLatency, CaseReport, Event, Observation, Reader, ReportError, Summary, TargetKind};

/// What the field `schema` of every report says.
pub const SCHEMA: &str = "edgeproof.report/1";

/// A whole run. Every file format is made from this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Always `edgeproof.report/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// What made the report.
    pub tool: Tool,
    /// The interface that was tested.
    pub spec: Spec,
    /// What was tested.
    pub target: Target,
    /// When the run began, RFC 3339 in UTC.
    pub started: String,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
    /// What the bodies and the order were made from.
    pub seed: u64,
    /// 0 conforms, 1 does not conform, 2 wrong command, 3 incomplete, 130 and 143 ended by a signal.
    pub exit_code: u8,
    /// Counts of `cases`.
    pub summary: Summary,
    /// Every planned case, in the order of the plan.
    pub cases: Vec<CaseReport>,
    /// How the target behaved at open points, sorted.
    pub observations: Vec<Observation>,
    /// Latency that the edge adds, where both sides were seen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub latency: Option<AddedLatency>,
    /// Findings about the run as a whole.
    #[serde(default)]
    pub findings: Vec<String>,
}

/// What made the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Version of edgeproof.
    pub version: String,
}

/// The interface that was tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spec {
    /// `current` or `pre-seal`.
    pub version: String,
    /// Digest of the tables, hexadecimal.
    pub digest: String,
}

/// What was tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// How edgeproof came by it.
    pub kind: TargetKind,
    /// The program, where one was launched.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<String>,
    /// The address, where it was attached to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub url: Option<String>,
}

impl Target {
    /// The target of a run, from how it was come by and its command or URL.
    pub fn new(kind: TargetKind, given: &str) -> Self {
        let given = given.to_owned();
        match kind {
            TargetKind::Embedded => Self { kind, command: None, url: None },
            TargetKind::Launched => Self { kind, command: Some(given), url: None },
            TargetKind::Attached => Self { kind, command: None, url: Some(given) },
        }
    }

    /// Its command or URL; empty for the embedded edge.
    pub fn given(&self) -> &str {
        self.command.as_deref().or(self.url.as_deref()).unwrap_or_default()
    }
}

impl Report {
    /// Reads a report that `--report json=PATH` wrote.
    pub fn load(path: &Path) -> Result<Self, ReportError> {
        let path_buf = || path.to_owned();
        let text = std::fs::read(path).map_err(|source| ReportError::Read { path: path_buf(), source })?;
        let value: Value = serde_json::from_slice(&text)
            .map_err(|source| ReportError::NotJson { path: path_buf(), source })?;
        match value.get("schema").and_then(Value::as_str) {
            Some(SCHEMA) => {}
            Some(found) if found.starts_with("edgeproof.report/") => {
                return Err(ReportError::OtherSchema { path: path_buf(), found: found.to_owned() });
            }
            _ => return Err(ReportError::NotAReport { path: path_buf() }),
        }
        // From the text again and not from the value: so the error knows its line.
        let report: Self = serde_json::from_slice(&text)
            .map_err(|source| ReportError::Malformed { path: path_buf(), source })?;
        if report.summary != Summary::of(report.cases.iter().map(|case| case.outcome)) {
            let source = serde::de::Error::custom("`summary` does not count `cases`");
            return Err(ReportError::Malformed { path: path_buf(), source });
        }
        Ok(report)
    }

    /// The report as text, indented, with a final line feed.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    /// Tells the run once more, so that a stored report can be shown by any reader.
    pub fn replay(&self, reader: &mut dyn Reader) -> std::io::Result<()> {
        reader.read(&Event::Planned {
            cases: self.cases.len(),
            spec_version: self.spec.version.clone(),
            spec_digest: self.spec.digest.clone(),
            kind: self.target.kind,
            target: self.target.given().to_owned(),
            seed: self.seed,
            started: self.started.clone(),
        });
        for case in &self.cases {
            reader.read(&Event::Began { id: case.id.clone() });
            reader.read(&Event::Ended(Box::new(case.clone())));
        }
        for finding in &self.findings {
            reader.read(&Event::Finding(finding.clone()));
        }
        reader.read(&Event::Finished {
            summary: self.summary,
            observations: self.observations.clone(),
            latency: self.latency,
            duration_ms: self.duration_ms,
            exit_code: self.exit_code,
        });
        reader.finish()
    }
}

/// The JSON Schema of the report, draft 2020-12, as it is published in `schema/report-1.json`.
pub fn report_schema() -> Value {
    schema_of::<Report>()
}

/// The JSON Schema of a document, draft 2020-12.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let generated = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    let mut schema = serde_json::Map::new();
    // What a person looks for goes first.
    for name in ["$schema", "title", "description"] {
        schema.extend(generated.get(name).map(|value| (name.to_owned(), value.clone())));
    }
    for (name, value) in generated.as_object().into_iter().flatten() {
        schema.entry(name).or_insert_with(|| value.clone());
    }
    Value::Object(schema)
}
