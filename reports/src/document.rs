//! JSON documents: reading, with errors that name file and line, and writing.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;

/// Why a JSON report cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error("cannot read the report {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The file is not JSON, or is truncated.
    #[error("cannot read the report {}: it is not JSON", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// Cause, with line and column.
        source: serde_json::Error,
    },
    /// The file is JSON, but has no `schema`.
    #[error("cannot read the report {}: it has no `schema`; give a file that `--report json=PATH` wrote", path.display())]
    NoSchema {
        /// The file.
        path: PathBuf,
    },
    /// The file has the schema of another document or version.
    #[error("cannot read the report {}: its schema is `{found}`; give a file with the schema `{expected}`", path.display())]
    OtherSchema {
        /// The file.
        path: PathBuf,
        /// Schema of the file.
        found: String,
        /// Supported schema.
        expected: &'static str,
    },
    /// The content does not match the schema that the file names.
    #[error("cannot read the report {}: it does not match `{schema}`", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Schema of the file.
        schema: &'static str,
        /// Missing or wrong member.
        source: serde_json::Error,
    },
}

/// Reads a document whose field `schema` is `schema`. `check` returns what is inconsistent in its content.
pub(crate) fn read<T: DeserializeOwned>(
    path: &Path,
    schema: &'static str,
    check: impl FnOnce(&T) -> Result<(), &'static str>,
) -> Result<T, ReadError> {
    let owned = || path.to_owned();
    let text = std::fs::read(path).map_err(|source| ReadError::Io { path: owned(), source })?;
    let value: Value =
        serde_json::from_slice(&text).map_err(|source| ReadError::NotJson { path: owned(), source })?;
    match value.get("schema").and_then(Value::as_str) {
        Some(found) if found == schema => {}
        Some(found) => {
            return Err(ReadError::OtherSchema { path: owned(), found: found.to_owned(), expected: schema });
        }
        None => return Err(ReadError::NoSchema { path: owned() }),
    }
    let malformed = |source| ReadError::Malformed { path: owned(), schema, source };
    // Parses the text again instead of converting the value: the error then names the line.
    let document = serde_json::from_slice(&text).map_err(malformed)?;
    check(&document).map_err(|problem| malformed(serde_json::Error::custom(problem)))?;
    Ok(document)
}

/// Indented JSON with a final line feed.
pub(crate) fn to_json(document: &impl Serialize) -> String {
    let json = serde_json::to_string_pretty(document).expect("derived structs with string keys serialize");
    json + "\n"
}
