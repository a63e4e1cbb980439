use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use edgeproof_reports::Observation;
use serde::{Deserialize, Serialize};

use crate::cases::CaseFindings;
use crate::judge::Check;

const SCHEMA: &str = "edgeproof.observations/1";

/// How a target behaved at open points: recorded, then asserted.
#[derive(Debug, Default)]
pub struct Pins {
    points: BTreeMap<String, Vec<String>>,
}

/// A record that cannot be read or written.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum PinError {
    /// It cannot be read.
    #[error("read the pinned points in {}: {why}", path.display())]
    #[diagnostic(help(
        "--pin takes a file that --record wrote; points that should not be asserted can be deleted from it"
    ))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// It cannot be written.
    #[error("write the record {}: {why}", path.display())]
    #[diagnostic(help("name a file in a folder that exists and can be written to"))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: std::io::Error,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    schema: String,
    observations: Vec<Observation>,
}

impl Pins {
    /// Reads a record.
    pub fn load(path: &Path) -> Result<Self, PinError> {
        let unreadable = |why: String| PinError::Unreadable { path: path.into(), why };
        let text = std::fs::read_to_string(path).map_err(|why| unreadable(why.to_string()))?;
        let record: Record = serde_json::from_str(&text).map_err(|why| unreadable(why.to_string()))?;
        if record.schema != SCHEMA {
            return Err(unreadable(format!("its schema is {:?}, not {SCHEMA:?}", record.schema)));
        }
        let mut points: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for observation in record.observations {
            points.entry(observation.point).or_default().push(observation.saw);
        }
        Ok(Self { points })
    }

    /// Writes a record, whole or not at all.
    pub fn record(path: &Path, observations: &[Observation]) -> Result<(), PinError> {
        let unwritable = |why| PinError::Unwritable { path: path.into(), why };
        let record = Record { schema: SCHEMA.into(), observations: observations.to_vec() };
        let text = serde_json::to_string_pretty(&record).map_err(|why| unwritable(why.into()))? + "\n";
        let mut file = tempfile::NamedTempFile::new_in(folder(path)).map_err(unwritable)?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(unwritable)?;
        file.persist(path).map_err(|why| unwritable(why.error))?;
        Ok(())
    }

    /// Finds out whether a record could be written there, and leaves nothing behind.
    pub fn check_writable(path: &Path) -> Result<(), PinError> {
        let missing = || format!("there is no folder {}", folder(path).display());
        let probed = if path.is_dir() {
            Err(std::io::ErrorKind::IsADirectory.into())
        } else if !folder(path).is_dir() {
            Err(std::io::Error::new(std::io::ErrorKind::NotFound, missing()))
        } else {
            tempfile::NamedTempFile::new_in(folder(path)).map(drop)
        };
        probed.map_err(|why| PinError::Unwritable { path: path.into(), why })
    }

    /// Pinned points that none of these observations is about.
    pub(super) fn unseen<'p>(&'p self, seen: &[Observation]) -> Vec<&'p str> {
        let points = self.points.keys().map(String::as_str);
        points.filter(|point| !seen.iter().any(|observation| observation.point == *point)).collect()
    }

    /// Adds a check for each pinned point that was seen.
    pub(super) fn check(&self, found: &mut CaseFindings) {
        for (point, saw) in &found.observations {
            let Some(pinned) = self.points.get(point) else { continue };
            let check = Check::new(
                &format!("pinned point {point}"),
                pinned.join(" or "),
                saw.clone(),
                pinned.contains(saw),
            );
            found.checks.push(check.hint("if the new behaviour is wanted, record it again with --record"));
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
