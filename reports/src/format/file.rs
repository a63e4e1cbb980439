use std::io;
use std::path::Path;

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::{html, junit, markdown};
use crate::destination::{Destination, WriteError};
use crate::model::{Event, Reader, Report, Titles};

/// Format of a report file, as in `--report FORMAT=PATH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Format {
    /// For programs: `edgeproof.report/1`.
    Json,
    /// For build servers.
    Junit,
    /// One page for people, without network.
    Html,
    /// A summary for a pull request.
    Markdown,
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
    report: Option<Report>,
}

impl FileReport {
    /// A report to `path`. Fails if the path is not writable.
    pub fn new(format: Format, path: &Path, titles: Titles) -> Result<Self, WriteError> {
        let destination = Destination::new(path)?;
        Ok(Self { format, destination, titles, report: None })
    }
}

impl Reader for FileReport {
    fn read(&mut self, event: &Event) {
        if let Event::Finished(report) = event {
            self.report = Some(Report::clone(report));
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        let unfinished = || io::Error::other("cannot make a report: the run did not finish");
        let report = self.report.as_ref().ok_or_else(unfinished)?;
        let document = render(self.format, report, &self.titles);
        Ok(self.destination.write(&document)?)
    }
}
