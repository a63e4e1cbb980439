use std::path::{Path, PathBuf};

use super::LoadReport;
use crate::file::Place;
use crate::{Format, ReportError};

/// A report of load that is a file: it appears whole at the end of the run, or what was there before stays.
#[derive(Debug)]
pub struct LoadFile {
    format: Format,
    given: PathBuf,
    place: Place,
}

impl LoadFile {
    /// Proves that the path can be written, and leaves nothing behind in doing so.
    pub fn new(format: Format, path: &Path) -> Result<Self, ReportError> {
        Ok(Self { format, given: path.to_owned(), place: Place::find(path)? })
    }

    /// The path as it was given.
    pub fn path(&self) -> &Path {
        &self.given
    }

    /// What is written there.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Writes the report.
    pub fn write(&self, report: &LoadReport) -> Result<(), ReportError> {
        let text = super::render(self.format, report)?;
        self.place.write(&text).map_err(|source| ReportError::Write { path: self.given.clone(), source })
    }
}
