use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::{FileReport, Reader, ReportError, Titles};

/// A format of reports that are files, as in `--report FORMAT=PATH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

impl Format {
    /// Every format, in the order in which they are named to users.
    pub const ALL: [Self; 4] = [Self::Json, Self::Junit, Self::Html, Self::Markdown];

    /// As it is given on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Junit => "junit",
            Self::Html => "html",
            Self::Markdown => "markdown",
        }
    }

    /// All names in one line, for messages.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = ReportError;

    fn from_str(given: &str) -> Result<Self, ReportError> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == given)
            .ok_or_else(|| ReportError::UnknownFormat { given: given.to_owned() })
    }
}

/// A reader that writes the report to `path` at the end of the run, whole or not at all. Fails now where the path
/// could not be written then.
pub fn open(format: Format, path: &Path) -> Result<Box<dyn Reader + Send>, ReportError> {
    open_titled(format, path, Titles::new())
}

/// As [`open`], with names for the sections.
pub fn open_titled(
    format: Format,
    path: &Path,
    titles: Titles,
) -> Result<Box<dyn Reader + Send>, ReportError> {
    Ok(Box::new(FileReport::new(format, path, titles)?))
}
