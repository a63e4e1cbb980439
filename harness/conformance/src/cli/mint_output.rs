//! Where minted things go: a folder of the owner's, or standard output.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use tempfile::NamedTempFile;

use edgeproof_cli::Failure;

/// Where it goes.
#[derive(Debug, Args)]
pub(super) struct Output {
    /// Folder to write a file for each into, which only its owner can read; without it, standard output
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace files that are there
    #[arg(long, requires = "out")]
    force: bool,
}

/// Something to write.
pub(super) struct Item {
    /// Name of its file.
    pub(super) name: String,
    /// The file.
    pub(super) content: Vec<u8>,
}

impl Item {
    /// A file that ends with its line.
    pub(super) fn line(name: String, text: &str) -> Self {
        Self { name, content: format!("{text}\n").into_bytes() }
    }
}

impl Output {
    /// Whether it goes into a folder.
    pub(super) fn is_folder(&self) -> bool {
        self.out.is_some()
    }

    /// Writes everything, or nothing where that would replace a file unasked.
    pub(super) fn write(&self, items: &[Item]) -> Result<(), Failure> {
        match &self.out {
            Some(folder) => self.write_folder(folder, items),
            None => to_standard_output(items),
        }
    }

    fn write_folder(&self, folder: &Path, items: &[Item]) -> Result<(), Failure> {
        create(folder).map_err(|why| {
            Failure::usage(
                format!("write into {}: {why}", folder.display()),
                "name a folder whose parent exists and can be written to",
            )
        })?;
        if !self.force
            && let Some(item) = items.iter().find(|item| folder.join(&item.name).symlink_metadata().is_ok())
        {
            return Err(Failure::usage(
                format!("write {}: it is there already", folder.join(&item.name).display()),
                "add --force to replace it, or name another folder; nothing was written",
            ));
        }
        for item in items {
            let path = folder.join(&item.name);
            self.put(folder, &path, &item.content).map_err(|why| {
                Failure::usage(
                    format!("write {}: {why}", path.display()),
                    "name a folder that can be written to",
                )
            })?;
        }
        // Where it went is told beside it: standard output may be what a script reads.
        let names: Vec<_> = items.iter().map(|item| item.name.as_str()).collect();
        let _ = writeln!(io::stderr().lock(), "wrote {} into {}", names.join(", "), folder.display());
        Ok(())
    }

    /// Whole or not at all, and never through a link that stands in its place.
    fn put(&self, folder: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
        // Only the owner can read what this makes.
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(content)?;
        let kept = if self.force { file.persist(path) } else { file.persist_noclobber(path) };
        kept.map(drop).map_err(|failed| failed.error)
    }
}

/// Standard output takes one thing.
fn to_standard_output(items: &[Item]) -> Result<(), Failure> {
    let [item] = items else {
        return Err(Failure::usage(
            format!("write {} things to standard output: they could not be told apart", items.len()),
            "ask for one, or name a folder with --out DIR",
        ));
    };
    let mut out = io::stdout().lock();
    match out.write_all(&item.content).and_then(|()| out.flush()) {
        // Whoever reads has enough.
        Err(why) if why.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(why) => {
            Err(Failure::usage(format!("write to standard output: {why}"), "look at where it is sent"))
        }
        Ok(()) => Ok(()),
    }
}

/// Makes the folder, for its owner only, unless it is there.
fn create(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
