use std::path::Path;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::document::{self, ReadError};
use crate::model::CaseLevel;

/// Value of the field `schema` in every matrix.
pub const SCHEMA: &str = "edgeproof.matrix/1";

/// Kill matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Matrix {
    /// Always `edgeproof.matrix/1`.
    #[cfg_attr(test, schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// Version of edgeproof.
    pub version: String,
    /// Version of the interface.
    pub spec: String,
    /// Digest of the tables.
    pub digest: String,
    /// Cases that each mutant ran against.
    pub scope: Scope,
    /// Duration (ms).
    pub duration_ms: u64,
    /// Counts.
    pub summary: MatrixSummary,
    /// Problems of the cases, such as surviving mutants; empty if the cases kill every mutant.
    pub problems: Vec<String>,
    /// The cases, in the order of the cells.
    pub cases: Vec<MatrixCase>,
    /// The mutants.
    pub mutants: Vec<MatrixMutant>,
    /// How often the right cause is named. Empty in a matrix of an earlier version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accuracy: Vec<MatrixAccuracy>,
}

/// How often one kind of run names the right cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MatrixAccuracy {
    /// What is measured, in words.
    pub name: String,
    /// Number of right causes.
    pub hits: usize,
    /// Number of tries.
    pub of: usize,
}

/// Cases that each mutant runs against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The cases of the broken row, and the canaries.
    Gate,
    /// All cases.
    Full,
}

/// Counts of a matrix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MatrixSummary {
    /// Mutants, without the equivalent ones.
    pub mutants: usize,
    /// Mutants that break a `must`.
    pub must: usize,
    /// Mutants killed by a case of the broken row.
    pub killed: usize,
    /// Killed mutants that break a `must`.
    pub must_killed: usize,
    /// Mutants that a run reports as one finding (exit 3).
    pub found: usize,
    /// Mutants at an open point, with observed behaviour that differs.
    pub noticed: usize,
    /// Mutants that no case of the broken row detects.
    pub survived: usize,
    /// Generated mutants that behave correctly.
    pub equivalent: usize,
    /// Cases.
    pub cases: usize,
    /// Cases that kill a mutant of their own rows.
    pub killers: usize,
    /// Cases that cannot kill a mutant, with a reason.
    pub exempt: usize,
    /// Cases run against mutants.
    pub plays: usize,
}

/// A case of a matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MatrixCase {
    /// Id of the case.
    pub id: String,
    /// Weight of the case.
    pub level: CaseLevel,
    /// Rows that the case proves.
    pub rows: Vec<String>,
    /// Number of killed mutants of its own rows.
    pub kills: usize,
    /// Reason why it cannot kill a mutant.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exempt: Option<String>,
}

/// A mutant of a matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MatrixMutant {
    /// Id of the mutant.
    pub id: String,
    /// Its wrong behaviour.
    pub title: String,
    /// The row that it breaks.
    pub row: String,
    /// Weight of that row.
    pub level: CaseLevel,
    /// Result.
    pub status: MutantStatus,
    /// A run reports the mutant as one finding and skips the affected cases. The matrix runs them anyway.
    pub finding: bool,
    /// Cases of the broken row that detect the mutant.
    pub killers: Vec<String>,
    /// A character for each case: `X`, `x` failed; `W`, `w` warned; `O`, `o` observed different behaviour; upper case for
    /// cases of the broken row; `-` could not run; `·` same outcome as without the mutant; a space if not run.
    pub cells: String,
}

/// Result of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum MutantStatus {
    /// A case of the broken row failed, or warned for a `should`.
    Killed,
    /// A case of the broken row observed different behaviour at an open point.
    Noticed,
    /// No case of the broken row detected it.
    Survived,
    /// It behaves correctly.
    Equivalent,
}

impl MutantStatus {
    /// Name in every report.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Matrix {
    /// Summary in one line.
    pub fn line(&self) -> String {
        let MatrixSummary { mutants, must, must_killed, killed, found, noticed, survived, .. } = self.summary;
        let MatrixSummary { equivalent, cases, killers, exempt, .. } = self.summary;
        format!(
            "{mutants} mutants × {cases} cases: {killed} killed by a case of their own row ({must_killed} of {must} that \
             break a must), {noticed} noticed at open points, {survived} survived, {equivalent} equivalent; {found} \
             reported as one finding; {killers} cases kill, {exempt} cannot"
        )
    }

    /// Reads a matrix that `--report json=PATH` wrote.
    pub fn load(path: &Path) -> Result<Self, ReadError> {
        document::read(path, SCHEMA, |_| Ok(()))
    }

    /// Indented JSON with a final line feed.
    pub fn to_json(&self) -> String {
        document::to_json(self)
    }
}
