use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::Observation;
use edgeproof_reports::difference::{DifferenceKind, Wire};
use serde::{Deserialize, Serialize};

use crate::cases::CaseFindings;
use crate::judge::Check;

const SCHEMA: &str = "edgeproof.observations/1";

/// Recorded behaviour of a target at open points, which a later run asserts.
#[derive(Debug, Default)]
pub struct Pins {
    points: BTreeMap<String, Vec<String>>,
}

/// A record that is unreadable or not writable.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum PinError {
    /// The file cannot be read.
    #[error("cannot read the pinned points in {}: {why}", path.display())]
    #[diagnostic(help(
        "--pin takes a file written by --record; delete the points that should not be asserted"
    ))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The file cannot be written.
    #[error("cannot write the record {}: {why}", path.display())]
    #[diagnostic(help("name a file in a writable folder"))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The system's error.
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
    /// Reads a record file.
    pub fn load(path: &Path) -> Result<Self, PinError> {
        let unreadable = |why: String| PinError::Unreadable { path: path.into(), why };
        let text = std::fs::read_to_string(path).map_err(|why| unreadable(why.to_string()))?;
        let record: Record = serde_json::from_str(&text).map_err(|why| unreadable(why.to_string()))?;
        if record.schema != SCHEMA {
            return Err(unreadable(format!("its schema is {:?}, not {SCHEMA:?}", record.schema)));
        }
        let mut points: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for observation in record.observations {
            points.entry(observation.point).or_default().push(observation.observed);
        }
        Ok(Self { points })
    }

    /// Writes a record file atomically.
    pub fn record(path: &Path, observations: &[Observation]) -> Result<(), PinError> {
        let unwritable = |why| PinError::Unwritable { path: path.into(), why };
        let record = Record { schema: SCHEMA.into(), observations: observations.to_vec() };
        let text = serde_json::to_string_pretty(&record).map_err(|why| unwritable(why.into()))? + "\n";
        let mut file = tempfile::NamedTempFile::new_in(folder(path)).map_err(unwritable)?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(unwritable)?;
        file.persist(path).map_err(|why| unwritable(why.error))?;
        Ok(())
    }

    /// Checks that a record can be written, and leaves no file behind.
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

    /// Pinned points without an observation.
    pub(in crate::run) fn unobserved<'p>(&'p self, observed: &[Observation]) -> Vec<&'p str> {
        let points = self.points.keys().map(String::as_str);
        points.filter(|point| !observed.iter().any(|observation| observation.point == *point)).collect()
    }

    /// Adds a check for each pinned point among the findings.
    pub(in crate::run) fn check(&self, found: &mut CaseFindings) {
        for (point, observed) in &found.observations {
            let Some(pinned) = self.points.get(point) else { continue };
            let kind = DifferenceKind::Pin {
                point: point.clone(),
                expected: pinned.iter().map(Wire::from).collect(),
                actual: observed.into(),
            };
            let check = Check::judged(kind, pinned.contains(observed));
            found.checks.push(check.advise(Advice::PinChanged));
        }
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
