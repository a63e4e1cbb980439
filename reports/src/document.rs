//! JSON documents: reading, with errors that name file and line, and writing.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;

/// A JSON report cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the report {}{problem}", path.display())]
pub struct ReadError {
    path: PathBuf,
    problem: String,
    /// For JSON with line and column.
    source: Option<io::Error>,
}

/// Reads a document whose field `schema` is `schema`. `check` returns what is inconsistent in its content.
pub(crate) fn read<T: DeserializeOwned>(
    path: &Path,
    schema: &'static str,
    check: impl FnOnce(&T) -> Result<(), &'static str>,
) -> Result<T, ReadError> {
    let failed = |problem: String, source| ReadError { path: path.to_owned(), problem, source };
    let text = std::fs::read(path).map_err(|why| failed(String::new(), Some(why)))?;
    let value: Value = serde_json::from_slice(&text)
        .map_err(|why| failed(": it is not JSON".to_owned(), Some(why.into())))?;
    match value.get("schema").and_then(Value::as_str) {
        Some(found) if found == schema => {}
        Some(found) => {
            let problem = format!(": its schema is `{found}`; give a file with the schema `{schema}`");
            return Err(failed(problem, None));
        }
        None => {
            let problem = ": it has no `schema`; give a file that `--report json=PATH` wrote";
            return Err(failed(problem.to_owned(), None));
        }
    }
    let malformed =
        |why: serde_json::Error| failed(format!(": it does not match `{schema}`"), Some(why.into()));
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
