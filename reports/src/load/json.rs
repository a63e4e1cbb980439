use std::path::Path;

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::LoadReport;
use crate::ReportError;

/// What the field `schema` of every report of load says.
pub const LOAD_SCHEMA: &str = "edgeproof.load/1";

impl LoadReport {
    /// Reads a report that `--report json=PATH` of a run of load wrote.
    pub fn load(path: &Path) -> Result<Self, ReportError> {
        let path_buf = || path.to_owned();
        let text = std::fs::read(path).map_err(|source| ReportError::Read { path: path_buf(), source })?;
        let value: Value = serde_json::from_slice(&text)
            .map_err(|source| ReportError::NotJson { path: path_buf(), source })?;
        let malformed = |source| ReportError::MalformedLoad { path: path_buf(), source };
        match value.get("schema").and_then(Value::as_str) {
            Some(LOAD_SCHEMA) => {}
            Some(found) => {
                return Err(ReportError::OtherLoadSchema { path: path_buf(), found: found.to_owned() });
            }
            None => return Err(malformed(serde::de::Error::custom("it has no `schema`"))),
        }
        // From the text again and not from the value: so the error knows its line.
        let report: Self = serde_json::from_slice(&text).map_err(malformed)?;
        if !report.ledger.balances() || !report.warm_up.balances() {
            return Err(malformed(serde::de::Error::custom("its `ledger` does not balance")));
        }
        Ok(report)
    }

    /// The report as text, indented, with a final line feed.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }
}

/// The JSON Schema of a report of load, draft 2020-12, as it is published in `schema/load-1.json`.
pub fn load_schema() -> Value {
    let generated = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<LoadReport>();
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
