//! Files that reports are written to.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// Why a report cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The path is not writable; found before the run.
    #[error("cannot write a report to {}: {problem}", path.display())]
    NotWritable {
        /// The path as given.
        path: PathBuf,
        /// Cause and fix.
        problem: String,
    },
    /// Writing failed at the end of the run. The file keeps its previous content.
    #[error("cannot write the report {}", path.display())]
    Io {
        /// The path as given.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
}

/// A path that was checked to be writable, or `-` for standard output. A file is written completely or keeps its previous content.
#[derive(Debug)]
pub struct Destination {
    given: PathBuf,
    kind: DestinationKind,
}

#[derive(Debug)]
enum DestinationKind {
    /// A regular file: written to a temporary file in `folder`, then moved to `path`.
    File { path: PathBuf, folder: PathBuf },
    /// `-`: standard output.
    Stdout,
    /// An existing path that is no regular file, such as `/dev/stdout`: appended to, never replaced.
    Device,
}

impl Destination {
    /// Checks that the path is writable, and leaves no file behind.
    pub fn new(path: &Path) -> Result<Self, WriteError> {
        let given = path.to_owned();
        match kind(path) {
            Ok(kind) => Ok(Self { given, kind }),
            Err(problem) => Err(WriteError::NotWritable { path: given, problem }),
        }
    }

    /// The path as given.
    pub fn path(&self) -> &Path {
        &self.given
    }

    /// Writes the document.
    pub fn write(&self, text: &str) -> Result<(), WriteError> {
        let written = match &self.kind {
            DestinationKind::Stdout => write_stdout(text),
            DestinationKind::Device => append(&self.given, text),
            DestinationKind::File { path, folder } => replace(path, folder, text),
        };
        written.map_err(|source| WriteError::Io { path: self.given.clone(), source })
    }
}

impl From<WriteError> for io::Error {
    /// Keeps the kind of the cause.
    fn from(error: WriteError) -> Self {
        match &error {
            WriteError::NotWritable { .. } => Self::other(error),
            WriteError::Io { source, .. } => Self::new(source.kind(), error),
        }
    }
}

fn kind(given: &Path) -> Result<DestinationKind, String> {
    if given == Path::new("-") {
        return Ok(DestinationKind::Stdout);
    }
    let path = match fs::metadata(given) {
        Ok(found) if found.is_dir() => return Err("it is a folder; name a file in it".to_owned()),
        Ok(found) if !found.is_file() => return Ok(DestinationKind::Device),
        Ok(found) if found.permissions().readonly() => {
            return Err("the file is read-only; remove it or name another".to_owned());
        }
        // Resolves links, so that the move replaces the file and not the link.
        Ok(_) => given.canonicalize().map_err(|error| error.to_string())?,
        Err(_) => given.to_owned(),
    };
    if path.file_name().is_none() {
        return Err("it names no file".to_owned());
    }
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    if !folder.is_dir() {
        return Err(format!("the folder {} does not exist; create it first", folder.display()));
    }
    temporary(&folder).map_err(|error| format!("cannot write to its folder: {error}"))?;
    Ok(DestinationKind::File { path, folder })
}

fn write_stdout(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    fs::OpenOptions::new().append(true).open(path)?.write_all(text.as_bytes())
}

fn replace(path: &Path, folder: &Path, text: &str) -> io::Result<()> {
    let mut file = temporary(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map(|_| ()).map_err(|error| error.error)
}

/// A file in the folder, deleted on drop unless it is moved.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".edgeproof-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // Permissions of an ordinary new file; tempfile's default is 0600.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
