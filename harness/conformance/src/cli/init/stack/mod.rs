//! Stacks that a project can be written in: how its edge starts, and what a CI job does first.

mod go;
mod manifest;
mod node;
mod proposal;
mod python;
mod rust;

pub(super) use proposal::Proposal;

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
        Ok(found.map(|found| Proposal { steps: Some(self.steps(folder)), ..found }))
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
