use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use miette::Diagnostic;
use tempfile::TempDir;

use super::difference::FileDifference;
use super::row_text::HEADER;
use super::snapshot::{ENDING, INDEX, Snapshot};

/// File of a folder of tables.
const MANIFEST: &str = "interface.toml";

/// A folder with the files of a snapshot, and maybe with other files, which stay as they are.
#[derive(Debug)]
pub struct SnapshotFolder {
    path: PathBuf,
    /// Files of a snapshot, by their names.
    files: BTreeMap<String, String>,
}

/// What a new snapshot changed in its folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// New files.
    pub new: usize,
    /// Files with another text than before.
    pub changed: usize,
    /// Files of rows that are gone.
    pub removed: usize,
}

/// Why a folder cannot hold a snapshot.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum FolderError {
    /// The path names a file.
    #[error("cannot use {} as a folder: it is a file", .0.display())]
    #[diagnostic(help("name a folder; a missing one is created"))]
    NoFolder(PathBuf),
    /// The folder has tables.
    #[error("cannot use {} for a snapshot: it holds tables ({MANIFEST})", .0.display())]
    #[diagnostic(help("name another folder; a missing one is created"))]
    Tables(PathBuf),
    /// There is no snapshot to compare with.
    #[error("cannot compare with {}: it holds no snapshot", .0.display())]
    #[diagnostic(help("run the command without --check first, which writes it"))]
    NoSnapshot(PathBuf),
    /// A file with the name of a row's file is another one.
    #[error("cannot write {}: a file with this name is no file of a snapshot", .0.display())]
    #[diagnostic(help("move it away, or name another folder"))]
    Foreign(PathBuf),
    /// The folder cannot be read.
    #[error("cannot read the snapshot {}: {why}", path.display())]
    #[diagnostic(help("check the permissions of the folder"))]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        why: io::Error,
    },
    /// The folder cannot be written.
    #[error("cannot write the snapshot {}: {why}", path.display())]
    #[diagnostic(help("check the permissions of the folder and of the folder above it"))]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        why: io::Error,
    },
}

impl SnapshotFolder {
    /// Reads a folder. A missing one has no files.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        if path.is_file() {
            return Err(FolderError::NoFolder(path.to_owned()));
        }
        if path.join(MANIFEST).exists() {
            return Err(FolderError::Tables(path.to_owned()));
        }
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |why| FolderError::Read { path, why }
        };
        let mut files = BTreeMap::new();
        let entries = match fs::read_dir(path) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => None,
            entries => Some(entries.map_err(failed(path))?),
        };
        for entry in entries.into_iter().flatten() {
            let file = entry.map_err(failed(path))?.path();
            let Some(name) = file.file_name().and_then(|name| name.to_str()) else { continue };
            if !(name == INDEX || name.ends_with(ENDING)) || !file.is_file() {
                continue;
            }
            let bytes = fs::read(&file).map_err(failed(&file))?;
            if bytes.starts_with(HEADER.as_bytes()) {
                files.insert(name.to_owned(), String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        Ok(Self { path: path.to_owned(), files })
    }

    /// Fails if the folder holds no snapshot.
    pub fn require_snapshot(&self) -> Result<(), FolderError> {
        if self.files.is_empty() { Err(FolderError::NoSnapshot(self.path.clone())) } else { Ok(()) }
    }

    /// Every file that differs from a snapshot, by its name.
    pub fn differences(&self, snapshot: &Snapshot) -> Vec<FileDifference> {
        let fresh = snapshot.files();
        let stale = self.files.keys().filter(|name| !fresh.contains_key(*name));
        let mut names: Vec<&String> = fresh.keys().chain(stale).collect();
        names.sort();
        let difference = |name: &String| FileDifference {
            path: self.path.join(name).display().to_string(),
            found: self.files.get(name).cloned(),
            fresh: fresh.get(name).cloned(),
        };
        names.into_iter().map(difference).filter(|file| file.found != file.fresh).collect()
    }

    /// Prepares a folder on the same file system, from which the files are moved. Fails if there can be none.
    pub fn writer(self) -> Result<SnapshotWriter, FolderError> {
        let absolute = std::path::absolute(&self.path).map_err(|why| self.write_error(why))?;
        // A file system may be mounted on the folder.
        let place = if absolute.is_dir() { &absolute } else { absolute.parent().unwrap_or(&absolute) };
        let prepared = fs::create_dir_all(place)
            .and_then(|()| tempfile::Builder::new().prefix(".edgeproof-snapshot-").tempdir_in(place))
            .map_err(|why| self.write_error(why))?;
        Ok(SnapshotWriter { folder: self, prepared })
    }

    fn write_error(&self, why: io::Error) -> FolderError {
        FolderError::Write { path: self.path.clone(), why }
    }
}

/// Replaces the files of a snapshot.
#[derive(Debug)]
pub struct SnapshotWriter {
    folder: SnapshotFolder,
    prepared: TempDir,
}

impl SnapshotWriter {
    /// Writes every file that differs elsewhere, and then moves them all. Removes the files of rows that are gone.
    pub fn write(self, snapshot: &Snapshot) -> Result<Written, FolderError> {
        let Self { folder, prepared } = self;
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |why| FolderError::Write { path, why }
        };
        let mut moves = Vec::new();
        let mut written = Written::default();
        for (name, text) in snapshot.files() {
            let (from, to) = (prepared.path().join(name), folder.path.join(name));
            match folder.files.get(name) {
                Some(found) if found == text => continue,
                Some(_) => written.changed += 1,
                None if to.exists() => return Err(FolderError::Foreign(to)),
                None => written.new += 1,
            }
            fs::write(&from, text).map_err(failed(&from))?;
            moves.push((from, to));
        }
        fs::create_dir_all(&folder.path).map_err(failed(&folder.path))?;
        for (from, to) in &moves {
            fs::rename(from, to).map_err(failed(to))?;
        }
        for name in folder.files.keys().filter(|name| !snapshot.files().contains_key(*name)) {
            let path = folder.path.join(name);
            fs::remove_file(&path).map_err(failed(&path))?;
            written.removed += 1;
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A snapshot with these files, each with one line after its header.
    fn snapshot(files: &[(&str, &str)]) -> Snapshot {
        let file = |(name, line): &(&str, &str)| ((*name).to_owned(), format!("{HEADER}{name}\n{line}\n"));
        Snapshot::of(files.iter().map(file).collect())
    }

    fn written(folder: &Path, files: &[(&str, &str)]) -> Written {
        let writer = SnapshotFolder::open(folder).unwrap().writer().unwrap();
        writer.write(&snapshot(files)).unwrap()
    }

    #[test]
    fn changed_and_stale_files_are_replaced_and_other_files_stay() {
        let root = TempDir::new().unwrap();
        let folder = root.path().join("deep/snapshot");
        let first = written(&folder, &[("a.http", "1"), ("b.http", "1"), ("gone.http", "1")]);
        assert_eq!(first, Written { new: 3, ..Written::default() });
        for name in ["notes.md", "own.http"] {
            fs::write(folder.join(name), "mine").unwrap();
        }

        let second = written(&folder, &[("a.http", "1"), ("b.http", "2"), ("c.http", "1")]);

        assert_eq!(second, Written { new: 1, changed: 1, removed: 1 });
        let names = |folder: &Path| {
            let mut names: Vec<_> =
                fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(&folder), ["a.http", "b.http", "c.http", "notes.md", "own.http"]);
        assert_eq!(names(folder.parent().unwrap()), ["snapshot"]);
        let kept = SnapshotFolder::open(&folder).unwrap();
        assert!(kept.differences(&snapshot(&[("a.http", "1"), ("b.http", "2"), ("c.http", "1")])).is_empty());
    }

    /// A file system may be mounted on the folder: no file moves from one to another.
    #[test]
    fn files_are_prepared_inside_an_existing_folder() {
        let root = TempDir::new().unwrap();
        let place = |folder: &str| {
            let writer = SnapshotFolder::open(&root.path().join(folder)).unwrap().writer().unwrap();
            writer.prepared.path().parent().unwrap().to_owned()
        };
        assert_eq!(place(""), root.path());
        assert_eq!(place("new"), root.path());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0, "temporary files are left behind");
    }

    #[test]
    fn file_of_the_user_with_the_name_of_a_row_is_not_replaced() {
        let root = TempDir::new().unwrap();
        fs::write(root.path().join("b.http"), "mine").unwrap();

        let writer = SnapshotFolder::open(root.path()).unwrap().writer().unwrap();
        let error = writer.write(&snapshot(&[("a.http", "1"), ("b.http", "1")])).unwrap_err();

        assert!(matches!(error, FolderError::Foreign(_)), "{error}");
        assert!(!root.path().join("a.http").exists());
        assert_eq!(fs::read_to_string(root.path().join("b.http")).unwrap(), "mine");
    }
}
