use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;

use edgeproof_cli::Failure;
use edgeproof_fixtures::spec::{Spec, SpecChoice, SpecError, is_own_file};
use tempfile::TempDir;

/// The interface of a comparison or snapshot: a version, a path, or a folder in a revision of the repository here.
#[derive(Debug, Clone)]
pub(super) enum ComparedSpec {
    /// A version, a folder of tables or an overlay.
    Choice(SpecChoice),
    /// `REV:FOLDER`, read with git.
    Revision {
        /// The revision.
        revision: String,
        /// The folder, relative to the repository's root, or with `./` to the current folder.
        folder: String,
    },
}

impl fmt::Display for ComparedSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Choice(choice) => choice.fmt(f),
            Self::Revision { revision, folder } => write!(f, "{revision}:{folder}"),
        }
    }
}

impl FromStr for ComparedSpec {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, Self::Err> {
        match given.parse::<SpecChoice>() {
            Ok(choice) => Ok(Self::Choice(choice)),
            Err(why) => match given.split_once(':') {
                Some((revision, folder)) if !revision.is_empty() && !revision.starts_with('-') => {
                    // git takes `./` for the current folder, and a dot alone for a name.
                    let folder = match folder.trim_end_matches('/') {
                        "." => "./".to_owned(),
                        folder => folder.to_owned(),
                    };
                    Ok(Self::Revision { revision: revision.to_owned(), folder })
                }
                _ => Err(format!("{why}, or REV:FOLDER of a git repository")),
            },
        }
    }
}

impl ComparedSpec {
    /// Whether both name one folder or file.
    pub(super) fn is_same_path(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Revision { revision, folder }, Self::Revision { revision: other, folder: elsewhere }) => {
                (revision, folder) == (other, elsewhere)
            }
            (Self::Choice(SpecChoice::Path(one)), Self::Choice(SpecChoice::Path(two))) => {
                matches!((one.canonicalize(), two.canonicalize()), (Ok(one), Ok(two)) if one == two)
            }
            _ => false,
        }
    }

    /// Loads the tables.
    pub(super) fn load(&self) -> Result<Spec, Failure> {
        match self {
            Self::Choice(choice) => Ok(choice.load()?),
            Self::Revision { revision, folder } => {
                let copy =
                    TempDir::new().map_err(|why| Failure::of(&why, "check TMPDIR and its free space"))?;
                export(revision, folder, copy.path())?;
                // The copy is gone after this, so its path helps nobody.
                let shown =
                    |why: SpecError| why.with_folder(&copy.path().display().to_string(), &self.to_string());
                Spec::load(copy.path()).map_err(|why| shown(why).into())
            }
        }
    }
}

/// Writes the tables of a revision's folder into `to`, without edgeproof's own files: another edgeproof wrote those.
fn export(revision: &str, folder: &str, to: &Path) -> Result<(), Failure> {
    let what = format!("cannot read {revision}:{folder} with git");
    let listed = git(&["ls-tree", "--full-tree", "--name-only", &format!("{revision}:{folder}")])
        .map_err(|why| Failure::usage(format!("{what}: {why}"), advice(revision)))?;
    let names: Vec<&str> = listed.lines().filter(|name| is_toml(name) && !is_own_file(name)).collect();
    if names.is_empty() {
        return Err(Failure::usage(
            format!("{what}: no table is there"),
            "name the folder with relay.toml and the other tables",
        ));
    }
    let inside =
        if folder.is_empty() || folder.ends_with('/') { folder.to_owned() } else { format!("{folder}/") };
    for name in names {
        let text = git(&["show", &format!("{revision}:{inside}{name}")])
            .map_err(|why| Failure::usage(format!("{what}: {why}"), advice(revision)))?;
        fs::write(to.join(name), text).map_err(|why| Failure::of(&why, "check TMPDIR and its free space"))?;
    }
    Ok(())
}

/// What to do about a revision that git does not know.
fn advice(revision: &str) -> String {
    if revision.contains("@{") {
        return "a name with @{…} is what this clone had before, and a new clone has nothing before: name a commit, a tag or a branch"
            .to_owned();
    }
    match git(&["rev-parse", "--is-shallow-repository"]) {
        Ok(answer) if answer.trim() == "true" => match ancestors(revision) {
            0 => format!(
                "the clone is shallow: fetch the revision with `git fetch --depth=1 origin {revision}`, and name it FETCH_HEAD"
            ),
            steps => format!(
                "the clone is shallow: fetch enough history with `git fetch --depth={}`, or all with `git fetch --unshallow`",
                steps + 1
            ),
        },
        Ok(_) => "name a revision and a folder from the root of the repository, such as HEAD~1:fixtures/spec"
            .to_owned(),
        Err(_) => "run it in a git repository, with git installed".to_owned(),
    }
}

/// How many steps a revision such as `HEAD~2` or `main^` goes back from the commit that it names.
fn ancestors(revision: &str) -> usize {
    let steps = revision.split(['~', '^']).skip(1).zip(revision.matches(['~', '^']));
    // After a caret stands the number of a parent.
    steps.map(|(number, sign)| if sign == "^" { 1 } else { number.parse().unwrap_or(1) }).sum()
}

/// The output of git, or its first line of errors.
fn git(arguments: &[&str]) -> Result<String, String> {
    let output =
        Command::new("git").args(arguments).output().map_err(|why| format!("git does not start: {why}"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(errors.lines().next().unwrap_or("git failed").to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn is_toml(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("main", 0)]
    #[case("HEAD~", 1)]
    #[case("HEAD~12", 12)]
    #[case("v1^2", 1)]
    #[case("HEAD~2^^", 4)]
    fn steps_back_are_counted(#[case] revision: &str, #[case] expected: usize) {
        assert_eq!(ancestors(revision), expected);
    }
}
