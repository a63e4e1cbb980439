use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::Failure;

/// Name of the file.
const NAME: &str = "edgeproof.toml";
/// Marks the root of a repository: a folder, or a file in a worktree.
const ROOT_MARK: &str = ".git";

/// What the search for the file found.
#[derive(Debug)]
pub enum Search {
    /// No file.
    Nothing,
    /// The text of a file.
    Found(FoundFile),
    /// A file of another user, which is ignored.
    Foreign(String),
}

/// A file that was found.
#[derive(Debug)]
pub struct FoundFile {
    /// Its path, relative to the working directory.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

impl FoundFile {
    /// Its folder, relative to the working directory: empty for this directory.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// Its folder, for a program that starts there.
    pub fn absolute_folder(&self) -> PathBuf {
        let folder = if self.folder() == Path::new("") { Path::new(".") } else { self.folder() };
        folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
    }
}

/// Looks for the file from the working directory up to the root of its repository. Fails with exit code 2 if it cannot be
/// read.
pub fn search() -> Result<Search, Failure> {
    let here = std::env::current_dir().map_err(|why| {
        Failure::usage(format!("cannot look for {NAME}: {why}"), "run the command in a folder that exists")
    })?;
    let own = rustix::process::geteuid().as_raw();
    let mut folder = PathBuf::new();
    for _ in 0..levels(&here) {
        let path = folder.join(NAME);
        match read(&path, own) {
            Ok(Search::Nothing) => folder.push(".."),
            Ok(found) => return Ok(found),
            Err(why) => {
                return Err(Failure::usage(
                    format!("cannot read {}: {why}", path.display()),
                    "make it a readable text file, or add --no-config",
                ));
            }
        }
    }
    Ok(Search::Nothing)
}

/// Number of folders to look into.
fn levels(here: &Path) -> usize {
    here.ancestors().position(|folder| folder.join(ROOT_MARK).exists()).map_or(1, |root| root + 1)
}

fn read(path: &Path, own: u32) -> io::Result<Search> {
    let mut file = match File::open(path) {
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Search::Nothing),
        file => file?,
    };
    let owner = file.metadata()?.uid();
    if owner != own {
        return Ok(Search::Foreign(format!(
            "{} is ignored: it belongs to user {owner}, and you are user {own}",
            path.display()
        )));
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(Search::Found(FoundFile { path: path.to_owned(), text }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_of_another_user_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        std::fs::write(&path, "strict = true\n").unwrap();
        let own = rustix::process::geteuid().as_raw();
        assert!(matches!(read(&path, own), Ok(Search::Found(file)) if file.text == "strict = true\n"));
        let Ok(Search::Foreign(text)) = read(&path, own + 1) else { panic!("it was read") };
        assert!(text.ends_with(&format!("belongs to user {own}, and you are user {}", own + 1)), "{text}");
    }

    #[test]
    fn search_ends_at_the_root_of_the_repository() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("repository/a/b");
        std::fs::create_dir_all(&deep).unwrap();
        assert_eq!(levels(&deep), 1);
        std::fs::write(root.path().join("repository/.git"), "gitdir: elsewhere").unwrap();
        assert_eq!(levels(&deep), 3);
    }
}
