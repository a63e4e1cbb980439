use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use edgeproof_cli::Failure;
use edgeproof_fixtures::spec::{ExportedTables, Spec, SpecChoice};
use edgeproof_reports::counted;
use shell_words::quote;

/// Writes the tables of an interface into a new or empty folder, all or none. Yields what to do next.
pub(super) fn export(choice: &SpecChoice, dir: &Path) -> Result<String, Failure> {
    let spec = choice.load()?;
    let tables = ExportedTables::of(choice)?;
    let target = target(dir)?;
    write(&tables, &spec, &target)?;
    let mut text = format!(
        "wrote {} of the interface {} into {}\n",
        counted(tables.files.len(), "file"),
        spec.version(),
        dir.display()
    );
    if !tables.merged.is_empty() {
        _ = writeln!(text, "the overlay is merged, without comments: {}", tables.merged.join(", "));
    }
    let shown = dir.display().to_string();
    _ = writeln!(text, "edit them, then run `edgeproof conformance --spec {}`", quote(&shown));
    let manifest = dir.join("interface.toml").display().to_string();
    _ = writeln!(text, "give it a name: `version` in {}", quote(&manifest));
    Ok(text)
}

/// The folder, whose parent exists.
fn target(dir: &Path) -> Result<PathBuf, Failure> {
    let unusable = |why: &str| {
        Failure::usage(
            format!("cannot write the tables into {}: {why}", dir.display()),
            "name a folder that does not exist; nothing was written",
        )
    };
    if dir.symlink_metadata().is_err() {
        return Ok(dir.to_owned());
    }
    // The target of a link: renaming a folder onto the link would fail.
    let target = dir.canonicalize().map_err(|why| unusable(&why.to_string()))?;
    if !target.is_dir() {
        return Err(unusable("it is not a folder"));
    }
    let mut entries = fs::read_dir(&target).map_err(|why| unusable(&why.to_string()))?;
    if entries.next().is_some() {
        return Err(unusable("it is not empty"));
    }
    // It will be replaced, which would leave the shell in a deleted folder.
    if std::env::current_dir().is_ok_and(|current| current == target) {
        return Err(unusable("it is the working folder"));
    }
    Ok(target)
}

fn write(tables: &ExportedTables, spec: &Spec, target: &Path) -> Result<(), Failure> {
    let failed = |why: io::Error| {
        Failure::usage(
            format!("cannot write the tables into {}: {why}", target.display()),
            "name a folder with a writable parent; nothing was written",
        )
    };
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !parent.is_dir() {
        return Err(failed(io::Error::other(format!("there is no folder {}", parent.display()))));
    }
    let is_new = !target.exists();
    // A file system may be mounted on the folder.
    let place = if is_new { parent } else { target };
    let prepared = tempfile::Builder::new().prefix(".edgeproof-").tempdir_in(place).map_err(failed)?;
    // The temporary folder is its owner's only; the folder in it has the usual permissions.
    let folder = prepared.path().join("tables");
    fs::create_dir(&folder).map_err(failed)?;
    for (name, text) in &tables.files {
        fs::write(folder.join(name), text).map_err(failed)?;
    }
    let written = Spec::load(&folder)
        .map_err(|why| Failure::within("cannot merge the overlay into the tables", &why))?;
    if written.digest() != spec.digest() {
        return Err(Failure::usage(
            "cannot merge the overlay into the tables: they state another interface",
            "this is a bug in edgeproof: report it with the overlay; nothing was written",
        ));
    }
    if is_new {
        return fs::rename(&folder, target).map_err(failed);
    }
    let names = tables.files.iter().map(|(name, _)| name);
    let moved = names.clone().try_for_each(|name| fs::rename(folder.join(name), target.join(name)));
    moved.map_err(|why| {
        // The folder was empty.
        names.for_each(|name| drop(fs::remove_file(target.join(name))));
        failed(why)
    })
}
