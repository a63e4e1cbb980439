use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use edgeproof_cli::{Failure, write_stdout};
use tempfile::NamedTempFile;

/// Destination of minted items.
#[derive(Debug, Args)]
pub(super) struct MintOutput {
    /// Output folder, for files that only their owner can read (default: standard output)
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace existing files
    #[arg(long, requires = "out")]
    force: bool,
}

/// A minted item.
pub(super) struct Item {
    /// File name.
    pub(super) name: String,
    /// Content of the file.
    pub(super) content: Vec<u8>,
}

impl Item {
    /// A file with one line.
    pub(super) fn line(name: String, text: &str) -> Self {
        Self { name, content: format!("{text}\n").into_bytes() }
    }
}

impl MintOutput {
    /// Whether the destination is a folder.
    pub(super) fn is_folder(&self) -> bool {
        self.out.is_some()
    }

    /// Writes all items. Writes nothing if a file exists and --force is not given.
    pub(super) fn write(&self, items: &[Item]) -> Result<(), Failure> {
        match &self.out {
            Some(folder) => self.write_folder(folder, items),
            None => to_standard_output(items),
        }
    }

    fn write_folder(&self, folder: &Path, items: &[Item]) -> Result<(), Failure> {
        create(folder).map_err(|why| {
            Failure::usage(
                format!("cannot write into {}: {why}", folder.display()),
                "name a folder with a writable parent",
            )
        })?;
        if !self.force
            && let Some(item) = items.iter().find(|item| folder.join(&item.name).symlink_metadata().is_ok())
        {
            return Err(Failure::usage(
                format!("cannot write {}: the file already exists", folder.join(&item.name).display()),
                "add --force to replace it, or name another folder; nothing was written",
            ));
        }
        for item in items {
            let path = folder.join(&item.name);
            self.put(folder, &path, &item.content).map_err(|why| {
                Failure::usage(format!("cannot write {}: {why}", path.display()), "name a writable folder")
            })?;
        }
        // On standard error: a script may read standard output.
        let names: Vec<_> = items.iter().map(|item| item.name.as_str()).collect();
        let _ = writeln!(io::stderr().lock(), "wrote {} into {}", names.join(", "), folder.display());
        Ok(())
    }

    /// Writes a file atomically, and never through a symbolic link.
    fn put(&self, folder: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
        // Only the owner can read a temporary file.
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(content)?;
        let kept = if self.force { file.persist(path) } else { file.persist_noclobber(path) };
        kept.map(drop).map_err(|failed| failed.error)
    }
}

/// Standard output takes one item.
fn to_standard_output(items: &[Item]) -> Result<(), Failure> {
    let [item] = items else {
        return Err(Failure::usage(
            format!("cannot write {} items to standard output: it takes one", items.len()),
            "mint one item, or name a folder with --out DIR",
        ));
    };
    write_stdout(&item.content)
}

/// Creates the folder for its owner only, unless it exists.
fn create(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
