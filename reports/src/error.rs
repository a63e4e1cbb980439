use std::io;
use std::path::PathBuf;

use crate::Format;
use crate::json::SCHEMA;
use crate::load::LOAD_SCHEMA;

/// Why a report could not be opened, read or written. Each reads well after "failed to"; the cause is the source.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// `--report` names a format that does not exist.
    #[error("use the report format `{given}`: the formats are {}", Format::names())]
    UnknownFormat {
        /// What was given.
        given: String,
    },
    /// The path cannot be written to; found before anything runs.
    #[error("write a report to {}: {problem}", path.display())]
    NotWritable {
        /// The path as given.
        path: PathBuf,
        /// What is in the way and what to change.
        problem: String,
    },
    /// Writing failed at the end. The path holds what it held before.
    #[error("write the report {}", path.display())]
    Write {
        /// The path as given.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Reading failed.
    #[error("read the report {}", path.display())]
    Read {
        /// The path as given.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is not JSON, or ends in the middle.
    #[error("read {} as a report: it is not JSON", path.display())]
    NotJson {
        /// The path as given.
        path: PathBuf,
        /// Line and column.
        source: serde_json::Error,
    },
    /// JSON, but not ours.
    #[error("read {} as a report: it has no `schema` that names `{SCHEMA}`; give a file that `--report json=PATH` wrote", path.display())]
    NotAReport {
        /// The path as given.
        path: PathBuf,
    },
    /// Ours, but of another version.
    #[error("read {} as a report: its schema is `{found}`, this version of edgeproof reads `{SCHEMA}`", path.display())]
    OtherSchema {
        /// The path as given.
        path: PathBuf,
        /// What the file says.
        found: String,
    },
    /// It says that it is a report and does not keep to the schema.
    #[error("read {} as a report: it does not keep to `{SCHEMA}`", path.display())]
    Malformed {
        /// The path as given.
        path: PathBuf,
        /// What is missing or wrong.
        source: serde_json::Error,
    },
    /// JSON, but no run of load, or one of another version.
    #[error("read {} as a run of load: its schema is `{found}`, this version of edgeproof reads `{LOAD_SCHEMA}`", path.display())]
    OtherLoadSchema {
        /// The path as given.
        path: PathBuf,
        /// What the file says.
        found: String,
    },
    /// It says that it is a run of load and does not keep to the schema.
    #[error("read {} as a run of load: it does not keep to `{LOAD_SCHEMA}`", path.display())]
    MalformedLoad {
        /// The path as given.
        path: PathBuf,
        /// What is missing or wrong.
        source: serde_json::Error,
    },
    /// The events do not make a whole run, so that a report of it would claim what did not happen.
    #[error("make a report: {0}")]
    Incomplete(String),
    /// A document could not be built.
    #[error("build the {format} report")]
    Render {
        /// Which.
        format: Format,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
