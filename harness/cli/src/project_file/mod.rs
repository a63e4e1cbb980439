//! `edgeproof.toml`, which all programs of a project read: where it is found, and errors that point into it.

mod error;
mod masked;
mod search;

use std::path::Path;

use clap::{Arg, Command};
use edgeproof_fixtures::credentials::{LICENSE_PREFIX, READ_PREFIX};

use toml::Spanned;
use toml::de::DeTable;

pub use error::{ConfigError, ConfigSource};
pub use masked::is_reference;
pub use search::{FoundFile, Search, search};

/// Letters by which a name may differ from the one that is meant.
const TYPOS: usize = 2;
/// Table of the load tests, which `edgeproof-load run` reads.
pub const LOAD: &str = "load";

/// What to do about a credential in the file.
pub const SECRET_HELP: &str =
    "the file is no place for credentials: write \"@FILE\", or \"$NAME\" for an environment variable";

/// Checks that an option takes a value. The error says why not.
pub fn check_value(option: &Arg, value: &str) -> Result<(), String> {
    let alone = Arg::new("value").long("value").value_parser(option.get_value_parser().clone());
    let command = Command::new("value").no_binary_name(true).disable_help_flag(true).arg(alone);
    let Err(error) = command.try_get_matches_from([format!("--value={value}")]) else { return Ok(()) };
    let names: Vec<String> =
        option.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    Err(match std::error::Error::source(&error) {
        Some(why) => why.to_string(),
        None if !names.is_empty() => format!("expected {}", names.join(" or ")),
        None => "the value is invalid".to_owned(),
    })
}

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
    /// Parses the text. `source`: the file for errors.
    pub fn parse(&self, source: &ConfigSource) -> Result<Spanned<DeTable<'_>>, ConfigError> {
        DeTable::parse(&self.text).map_err(|why| {
            let message = why.message().lines().next().unwrap_or_default();
            let span = why.span().unwrap_or_default();
            source.error(&span, message, "correct the TOML syntax (https://toml.io)")
        })
    }

    /// The file for errors. `secrets`: names of the keys that take a credential; their values are masked.
    pub fn source(&self, secrets: &[&str]) -> ConfigSource {
        ConfigSource::new(&self.path.display().to_string(), masked::masked(&self.text, secrets))
    }
}
