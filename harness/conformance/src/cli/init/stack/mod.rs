//! Stacks that a project can be written in: how its edge starts, and what a CI job does first.

mod go;
mod node;
mod python;
mod rust;

use std::path::Path;

use edgeproof_cli::Failure;

/// A stack, known by its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stack {
    /// `package.json`.
    Node,
    /// `pyproject.toml`, `manage.py` or `requirements.txt`.
    Python,
    /// `go.mod`.
    Go,
    /// `Cargo.toml`.
    Rust,
}

/// How an edge starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proposal {
    /// Command, as in `--launch`.
    pub(super) launch: String,
    /// Where it comes from.
    pub(super) source: String,
    /// Time until the edge answers, if it compiles first.
    pub(super) ready_timeout: Option<&'static str>,
    /// The stack in which it was found.
    pub(super) stack: Option<Stack>,
}

impl Proposal {
    /// The command that the user names.
    pub(super) fn given(launch: &str) -> Self {
        Self::new(launch, "as given")
    }

    fn new(launch: impl Into<String>, source: impl Into<String>) -> Self {
        Self { launch: launch.into(), source: source.into(), ready_timeout: None, stack: None }
    }
}

impl Stack {
    const ALL: [Self; 4] = [Self::Node, Self::Python, Self::Go, Self::Rust];

    /// The stacks of the files in a folder.
    pub(super) fn all_of(folder: &Path) -> Vec<Self> {
        let is_there = |stack: &Self| stack.files().iter().any(|file| folder.join(file).is_file());
        Self::ALL.into_iter().filter(is_there).collect()
    }

    /// The files that tell of a stack.
    pub(super) fn manifests() -> String {
        Self::ALL.iter().map(|stack| stack.files()[0]).collect::<Vec<_>>().join(", ")
    }

    fn files(self) -> &'static [&'static str] {
        match self {
            Self::Node => &["package.json"],
            Self::Python => &["pyproject.toml", "manage.py", "requirements.txt"],
            Self::Go => &["go.mod"],
            Self::Rust => &["Cargo.toml"],
        }
    }

    /// The command that starts the project in a folder.
    pub(super) fn proposal(self, folder: &Path) -> Result<Option<Proposal>, Failure> {
        let found = match self {
            Self::Node => node::proposal(folder)?,
            Self::Python => python::proposal(folder)?,
            Self::Go => go::proposal(folder),
            Self::Rust => rust::proposal(folder)?,
        };
        Ok(found.map(|found| Proposal { stack: Some(self), ..found }))
    }

    /// Why the project has no command.
    pub(super) fn looked_for(self) -> &'static str {
        match self {
            Self::Node => "a package.json without scripts.start, main, and a file such as server.js",
            Self::Python => "a Python project without manage.py, main.py, app.py and a script",
            Self::Go => "a go.mod without a package main here or in cmd",
            Self::Rust => "a Cargo.toml without one program",
        }
    }

    /// Steps of a CI job before the edge can start.
    pub(super) fn steps(self, folder: &Path) -> String {
        match self {
            Self::Node => node::steps(folder),
            Self::Python => python::steps(folder),
            Self::Go => go::STEPS.to_owned(),
            Self::Rust => rust::STEPS.to_owned(),
        }
    }
}

/// Reads a manifest. `parse` yields its content, or what is wrong with it.
fn manifest<T>(
    folder: &Path,
    name: &str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, Failure> {
    let text = std::fs::read_to_string(folder.join(name)).map_err(|why| why.to_string());
    text.and_then(|text| parse(&text)).map_err(|why| {
        let what = format!("cannot read {name}: {why}. Nothing was written");
        Failure::usage(what, "correct the file, or name the command with --launch")
    })
}
