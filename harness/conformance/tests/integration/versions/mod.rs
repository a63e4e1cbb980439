//! Versions of the interface: edited tables, removed rows, overlays.

mod diff;
mod duties;
mod overlays;
mod removed_rows;
mod walks;

pub(crate) use overlays::ADDED;

use std::fs;
use std::path::{Path, PathBuf};

use edgeproof_fixtures::spec::{Spec, interface_files};
use tempfile::TempDir;

/// A folder with the tables that an owner of the interface edits.
pub(crate) fn tables() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in interface_files() {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Changes one text of a file.
pub(crate) fn edit(folder: &Path, file: &str, old: &str, new: &str) {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(old), "{file} has no {old}");
    fs::write(path, text.replacen(old, new, 1)).unwrap();
}

/// An overlay with this text.
pub(crate) fn overlay(folder: &TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("next.toml");
    fs::write(&path, text).unwrap();
    path
}

/// Loads tables that have no mistake.
pub(crate) fn load(path: &Path) -> Spec {
    Spec::load(path).unwrap_or_else(|error| panic!("{:?}", miette::Report::new(error)))
}
