//! Deviations × cases: which case notices what. A report of its own, about edgeproof and not about a target.

mod html;

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::file::Place;
use crate::json::schema_of;
use crate::{Level, ReportError};

/// What `schema` says in a matrix of this version.
pub const SCHEMA: &str = "edgeproof.matrix/1";

/// All deviations × all cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Matrix {
    /// [`SCHEMA`].
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Version of edgeproof.
    pub version: String,
    /// Version of the interface.
    pub spec: String,
    /// Digest of the tables.
    pub digest: String,
    /// `gate`: each deviation met the cases of its own row and the canaries; `full`: all cases.
    pub scope: Scope,
    /// Time it took, in milliseconds.
    pub duration_ms: u64,
    /// The counts.
    pub summary: MatrixSummary,
    /// What is wrong with the cases; nothing, if the proof is complete.
    pub problems: Vec<String>,
    /// The cases, in the order of the cells.
    pub cases: Vec<MatrixCase>,
    /// The deviations.
    pub deviations: Vec<MatrixLine>,
}

/// How much was played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The cases of the row that a deviation breaks, and the canaries.
    Gate,
    /// All cases.
    Full,
}

/// How many there are of what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixSummary {
    /// Deviations, without those that turned out to be right.
    pub deviations: usize,
    /// Of those, the ones that break a `must`.
    pub must: usize,
    /// Killed by a case of the row that they break.
    pub killed: usize,
    /// Of those, the ones that break a `must`.
    pub must_killed: usize,
    /// Of the deviations, those that a run tells of as one finding, and then proves nothing (exit 3).
    pub found: usize,
    /// At an open point: seen to behave otherwise.
    pub noticed: usize,
    /// Not seen by the cases of the row.
    pub survived: usize,
    /// Generated and found to be the right answer.
    pub equivalent: usize,
    /// Cases.
    pub cases: usize,
    /// Of those, the ones that kill a deviation of a row of theirs.
    pub killers: usize,
    /// Of those, the ones that cannot, with the reason.
    pub exempt: usize,
    /// Cases played on deviations.
    pub plays: usize,
}

/// A case of a matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixCase {
    /// Its id.
    pub id: String,
    /// How much it weighs.
    pub level: Level,
    /// The rows that it proves.
    pub rows: Vec<String>,
    /// How many deviations of its own rows it kills.
    pub kills: usize,
    /// Why it can kill none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exempt: Option<String>,
}

/// A deviation of a matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixLine {
    /// Its id.
    pub id: String,
    /// What it does.
    pub title: String,
    /// The row that it breaks.
    pub row: String,
    /// How much that weighs.
    pub level: Level,
    /// What became of it.
    pub fate: Fate,
    /// A run tells of it as one finding, and does not play what that concerns: here those cases were played all the same.
    pub finding: bool,
    /// The cases of its own row that noticed.
    pub killers: Vec<String>,
    /// A character for each case: `X` failed, of the row that is broken; `x` failed; `W`, `w` warned; `O`, `o` observed
    /// something else; `-` could not be played; `·` as without the deviation; a blank was not played.
    pub cells: String,
}

/// What became of a deviation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// A case of its row failed, or warned where it breaks a `should`.
    Killed,
    /// At an open point: a case of its row observed something else.
    Noticed,
    /// Nothing noticed it.
    Survived,
    /// It is the right answer.
    Equivalent,
}

impl Fate {
    /// As it stands in every report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Noticed => "noticed",
            Self::Survived => "survived",
            Self::Equivalent => "equivalent",
        }
    }
}

impl Matrix {
    /// The line to quote.
    pub fn line(&self) -> String {
        let MatrixSummary { deviations, must, must_killed, killed, found, noticed, survived, .. } =
            self.summary;
        let MatrixSummary { equivalent, cases, killers, exempt, .. } = self.summary;
        format!(
            "{deviations} deviations × {cases} cases: {killed} killed by a case of their own row ({must_killed} of {must} that \
             break a must), {noticed} noticed at open points, {survived} survived, {equivalent} equivalent; {found} of them a \
             run tells of as one finding; {killers} cases kill, {exempt} cannot"
        )
    }

    /// As JSON, with a line feed at its end.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|json| json + "\n")
    }

    /// As a page.
    pub fn to_html(&self) -> String {
        html::render(self)
    }
}

/// The JSON Schema of a matrix, draft 2020-12, as it is published in `schema/matrix-1.json`.
pub fn matrix_schema() -> Value {
    schema_of::<Matrix>()
}

/// A place for a document, proven to be writable before the work begins: the file appears whole, or stays as it was.
#[derive(Debug)]
pub struct Destination {
    path: std::path::PathBuf,
    place: Place,
}

impl Destination {
    /// Proves that the path can be written.
    pub fn new(path: &Path) -> Result<Self, ReportError> {
        Ok(Self { path: path.to_owned(), place: Place::find(path)? })
    }

    /// Writes the document.
    pub fn write(&self, text: &str) -> Result<(), ReportError> {
        self.place.write(text).map_err(|source| ReportError::Write { path: self.path.clone(), source })
    }
}
