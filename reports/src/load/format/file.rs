use std::path::Path;

use super::{html, junit, markdown};
use crate::destination::{Destination, WriteError};
use crate::format::Format;
use crate::load::model::LoadReport;

/// The document of a load report in a format.
pub fn render(format: Format, report: &LoadReport) -> String {
    match format {
        Format::Json => report.to_json(),
        Format::Junit => junit::render(report),
        Format::Html => html::render(report),
        Format::Markdown => markdown::render(report),
    }
}

/// A file for a load report.
#[derive(Debug)]
pub struct LoadFile {
    format: Format,
    destination: Destination,
}

impl LoadFile {
    /// A report to `path`. Fails if the path is not writable.
    pub fn new(format: Format, path: &Path) -> Result<Self, WriteError> {
        Ok(Self { format, destination: Destination::new(path)? })
    }

    /// The path as given.
    pub fn path(&self) -> &Path {
        self.destination.path()
    }

    /// Format of the file.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Writes the report.
    pub fn write(&self, report: &LoadReport) -> Result<(), WriteError> {
        self.destination.write(&render(self.format, report))
    }
}
