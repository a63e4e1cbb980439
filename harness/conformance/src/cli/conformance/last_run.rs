//! The report of the last run in a project, which `--failed` reads. A project is the folder of `edgeproof.toml`, or else the working
//! directory.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use edgeproof_cli::Failure;
use edgeproof_reports::{Report, TargetKind};
use tempfile::NamedTempFile;

/// Its folder in a project.
const FOLDER: &str = ".edgeproof";

/// The file.
pub(super) fn path(project: &Path) -> PathBuf {
    project.join(FOLDER).join("last.json")
}

/// Reads the last run. None: the project has none.
pub(super) fn read(project: &Path) -> Result<Option<Report>, Failure> {
    let path = path(project);
    if !path.exists() {
        return Ok(None);
    }
    let advice = "remove the file, or omit --failed: the next run writes it again";
    Report::load(&path).map(Some).map_err(|why| Failure::of(&why, advice))
}

/// Keeps a run, unless it tested a part of edgeproof itself: that says nothing about the user's target. A folder that cannot
/// be written costs a note.
pub(super) fn keep(report: &Report, project: &Path) {
    if report.target.kind == TargetKind::Embedded {
        return;
    }
    if let Err(why) = write(report, project) {
        let folder = project.join(FOLDER);
        let note = format!("note: cannot keep this run for --failed in {}: {why}", folder.display());
        let _ = writeln!(io::stderr().lock(), "{note}");
    }
}

fn write(report: &Report, project: &Path) -> io::Result<()> {
    let folder = &project.join(FOLDER);
    match fs::create_dir(folder) {
        Err(why) if why.kind() != ErrorKind::AlreadyExists => return Err(why),
        _ => {}
    }
    // A link could lead anywhere.
    if !folder.symlink_metadata()?.is_dir() {
        return Err(io::Error::other("it is no folder"));
    }
    // Versions ignore the folder, itself included.
    match fs::File::create_new(folder.join(".gitignore")) {
        Ok(mut file) => file.write_all(b"*\n")?,
        Err(why) if why.kind() == ErrorKind::AlreadyExists => {}
        Err(why) => return Err(why),
    }
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(report.to_json().as_bytes())?;
    file.persist(path(project))?;
    Ok(())
}
