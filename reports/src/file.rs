use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::json::Report;
use crate::{Event, Format, Reader, Recorder, ReportError, Titles, html, junit, markdown};

/// A report that is a file: it appears whole at the end of the run, or what was there before stays.
#[derive(Debug)]
pub struct FileReport {
    format: Format,
    given: PathBuf,
    place: Place,
    titles: Titles,
    recorder: Recorder,
}

impl FileReport {
    /// Proves that the path can be written, and leaves nothing behind in doing so.
    pub fn new(format: Format, path: &Path, titles: Titles) -> Result<Self, ReportError> {
        let place = Place::find(path)?;
        Ok(Self { format, given: path.to_owned(), place, titles, recorder: Recorder::default() })
    }

    fn write(&self) -> Result<(), ReportError> {
        let text = render(self.format, &self.recorder.report()?, &self.titles)?;
        self.place.write(&text).map_err(|source| ReportError::Write { path: self.given.clone(), source })
    }
}

impl Reader for FileReport {
    fn read(&mut self, event: &Event) {
        self.recorder.read(event);
    }

    fn finish(&mut self) -> io::Result<()> {
        self.write().map_err(io::Error::other)
    }
}

/// The document that a format makes of a report.
pub fn render(format: Format, report: &Report, titles: &Titles) -> Result<String, ReportError> {
    match format {
        Format::Json => {
            report.to_json().map_err(|source| ReportError::Render { format, source: source.into() })
        }
        Format::Junit => junit::render(report, titles)
            .map_err(|source| ReportError::Render { format, source: source.into() }),
        Format::Html => Ok(html::render(report, titles)),
        Format::Markdown => Ok(markdown::render(report, titles)),
    }
}

/// Where a document goes.
#[derive(Debug)]
pub(crate) enum Place {
    /// A file, written beside its place and moved there.
    File { path: PathBuf, folder: PathBuf },
    /// Something that is there and is no file, such as `/dev/stdout`: never replaced, written to in one go.
    Device(PathBuf),
}

impl Place {
    pub(crate) fn find(given: &Path) -> Result<Self, ReportError> {
        let refuse = |problem: String| ReportError::NotWritable { path: given.to_owned(), problem };
        let path = match fs::metadata(given) {
            Ok(there) if there.is_dir() => {
                return Err(refuse("it is a folder; name a file in it".to_owned()));
            }
            Ok(there) if !there.is_file() => return Ok(Self::Device(given.to_owned())),
            Ok(there) if there.permissions().readonly() => {
                return Err(refuse("the file is there and read-only; remove it or name another".to_owned()));
            }
            // Through links to the file itself: a link is not replaced by a file.
            Ok(_) => given.canonicalize().map_err(|error| refuse(error.to_string()))?,
            Err(_) => given.to_owned(),
        };
        if path.file_name().is_none() {
            return Err(refuse("it names no file".to_owned()));
        }
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        if !folder.is_dir() {
            return Err(refuse(format!("there is no folder {}; create it first", folder.display())));
        }
        beside(&folder).map_err(|error| refuse(format!("cannot write in its folder: {error}")))?;
        Ok(Self::File { path, folder })
    }

    pub(crate) fn write(&self, text: &str) -> io::Result<()> {
        match self {
            Self::Device(path) => fs::OpenOptions::new().append(true).open(path)?.write_all(text.as_bytes()),
            Self::File { path, folder } => {
                let mut file = beside(folder)?;
                file.write_all(text.as_bytes())?;
                file.as_file().sync_all()?;
                file.persist(path).map(|_| ()).map_err(|error| error.error)
            }
        }
    }
}

/// A file in the folder that is removed again unless it is moved to its place.
fn beside(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".edgeproof-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As any other new file: readable by whom the umask admits, not by the owner alone.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
