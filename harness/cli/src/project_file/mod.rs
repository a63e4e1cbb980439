//! `edgeproof.toml`, which all programs of a project read: where it is found, and errors that point into it.

mod error;
mod masked;
mod search;

use std::path::Path;

use edgeproof_fixtures::credentials::{LICENSE_PREFIX, READ_PREFIX};

pub use error::{ConfigError, ConfigSource};
pub use masked::is_reference;
pub use search::{FoundFile, Search, search};

/// Letters by which a name may differ from the one that is meant.
const TYPOS: usize = 2;
/// Table of the load tests, which `edgeproof-load run` reads.
pub const LOAD: &str = "load";

/// Whether a text holds a license or a read token of the interface.
pub fn holds_credential(text: &str) -> bool {
    [LICENSE_PREFIX, READ_PREFIX].iter().any(|prefix| text.contains(prefix))
}

/// A path of the file in this folder, relative to the working directory. `-` is standard output.
pub fn within(folder: &Path, path: &str) -> String {
    if path == "-" { path.to_owned() } else { folder.join(path).display().to_string() }
}

/// The name that differs from `given` by a typo, if there is one.
pub fn nearest_name<'n>(given: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let costs = names.map(|name| (strsim::osa_distance(given, name), name));
    costs.filter(|(cost, _)| *cost <= TYPOS).min().map(|(_, name)| name)
}

impl FoundFile {
    /// The file for errors. `secrets`: names of the keys that take a credential; their values are masked.
    pub fn source(&self, secrets: &[&str]) -> ConfigSource {
        ConfigSource::new(&self.path.display().to_string(), masked::masked(&self.text, secrets))
    }
}
