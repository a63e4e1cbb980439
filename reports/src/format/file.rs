use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;

use strum::{IntoStaticStr, VariantArray};

use super::{html, junit, markdown};
use crate::destination::{Destination, WriteError};
use crate::model::{Event, Reader, Report, ReportRecorder, Titles};

/// Format of a report file, as in `--report FORMAT=PATH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Format {
    /// For programs: `edgeproof.report/1`.
    Json,
    /// For build servers.
    Junit,
    /// One page for people, without network or script.
    Html,
    /// A summary for a pull request.
    Markdown,
}

/// `--report` names a format that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the report format `{given}`: it does not exist; use {}", Format::names())]
pub struct UnknownFormat {
    given: String,
}

impl Format {
    /// Every format, in the order of messages.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// All names, separated by commas.
    pub fn names() -> String {
        let names: Vec<&str> = Self::ALL.iter().map(|format| format.name()).collect();
        names.join(", ")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(given: &str) -> Result<Self, UnknownFormat> {
        let found = Self::ALL.iter().find(|format| format.name() == given);
        found.copied().ok_or_else(|| UnknownFormat { given: given.to_owned() })
    }
}

/// The document of a report in a format.
pub fn render(format: Format, report: &Report, titles: &Titles) -> String {
    match format {
        Format::Json => report.to_json(),
        Format::Junit => junit::render(report, titles),
        Format::Html => html::render(report, titles),
        Format::Markdown => markdown::render(report, titles),
    }
}

/// A report file, written at the end of the run.
#[derive(Debug)]
pub struct FileReport {
    format: Format,
    destination: Destination,
    titles: Titles,
    recorder: ReportRecorder,
}

impl FileReport {
    /// A report to `path`. Fails if the path is not writable.
    pub fn new(format: Format, path: &Path, titles: Titles) -> Result<Self, WriteError> {
        let destination = Destination::new(path)?;
        Ok(Self { format, destination, titles, recorder: ReportRecorder::default() })
    }
}

impl Reader for FileReport {
    fn read(&mut self, event: &Event) {
        self.recorder.read(event);
    }

    fn finish(&mut self) -> io::Result<()> {
        let report = self.recorder.report().map_err(io::Error::other)?;
        let document = render(self.format, &report, &self.titles);
        Ok(self.destination.write(&document)?)
    }
}
