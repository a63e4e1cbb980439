use std::ops::Range;
use std::path::Path;

use edgeproof_cli::project_file::{
    ConfigError, ConfigSource, SECRET_HELP, check_value, holds_credential, is_reference, within,
};
use edgeproof_fixtures::spec::Version;
use edgeproof_reports::Format;
use toml::Spanned;
use toml::de::DeValue;

use super::key::{ConfigKey, Kind};

/// A key of the file with its value.
#[derive(Debug)]
pub(crate) struct Entry<'k> {
    pub(super) key: &'k ConfigKey,
    /// The value in the file.
    pub(super) at: Range<usize>,
    /// The value, as output shows it.
    pub(super) shown: String,
    /// Values of the option, each for one occurrence. Paths are relative to the working directory.
    pub(super) values: Vec<String>,
    /// Whether a flag is set.
    pub(super) is_set: bool,
}

/// Files that hold a configuration: its text for errors, and its folder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'p> {
    pub(super) source: &'p ConfigSource,
    pub(super) folder: &'p Path,
}

impl<'k> Entry<'k> {
    /// Parses the value of a key, as its option does.
    pub(super) fn parse(
        key: &'k ConfigKey,
        value: &Spanned<DeValue<'_>>,
        place: Place<'_>,
    ) -> Result<Self, ConfigError> {
        let entry = |shown: String, values: Vec<String>, is_set: bool| Self {
            key,
            at: value.span(),
            shown,
            values,
            is_set,
        };
        Ok(match (key.kind(), value.get_ref()) {
            (Kind::Flag, DeValue::Boolean(is_set)) => entry(is_set.to_string(), Vec::new(), *is_set),
            (Kind::Integer, DeValue::Integer(number)) => {
                let text = i128::from_str_radix(number.as_str(), number.radix())
                    .map_or_else(|_| number.to_string(), |number| number.to_string());
                entry(text.clone(), vec![checked(key, text, &value.span(), place)?], true)
            }
            (Kind::Text | Kind::Secret, DeValue::String(text)) => {
                entry(text.to_string(), vec![argument(key, text, &value.span(), place)?], true)
            }
            (Kind::List, DeValue::Array(items)) => {
                let (mut shown, mut values) = (Vec::new(), Vec::new());
                for item in items {
                    let text = item.get_ref().as_str().ok_or_else(|| type_error(key, item, place))?;
                    shown.push(text.to_owned());
                    values.push(argument(key, text, &item.span(), place)?);
                }
                entry(shown.join(" "), values, true)
            }
            (Kind::Reports, DeValue::Table(reports)) => {
                let (mut shown, mut values) = (Vec::new(), Vec::new());
                for (format, path) in reports {
                    if format.get_ref().parse::<Format>().is_err() {
                        let message = format!("the format `{}` is unknown", format.get_ref());
                        let help = format!("write one of {}", Format::names());
                        return Err(place.source.error(&format.span(), message, help));
                    }
                    let text = path.get_ref().as_str().ok_or_else(|| type_error(key, path, place))?;
                    shown.push(format!("{}={text}", format.get_ref()));
                    let report = format!("{}={}", format.get_ref(), within(place.folder, text));
                    values.push(checked(key, report, &format.span(), place)?);
                }
                entry(shown.join(" "), values, true)
            }
            _ => return Err(type_error(key, value, place)),
        })
    }

    /// The words of its option. `variable`: the value of an environment variable.
    pub(super) fn words(
        &self,
        variable: &dyn Fn(&str) -> Option<String>,
        source: &ConfigSource,
    ) -> Result<Vec<String>, ConfigError> {
        let option = format!("--{}", self.key.option());
        if self.key.kind() == Kind::Flag {
            return Ok(if self.is_set { vec![option] } else { Vec::new() });
        }
        let word = |value: &String| {
            let header = value.split_once(": $").filter(|_| self.key.is_header());
            let reference = value.strip_prefix('$').map(|name| ("", name)).or(header);
            let Some((before, name)) = reference.filter(|_| self.key.kind() == Kind::Secret) else {
                return Ok(format!("{option}={value}"));
            };
            let secret = variable(name).filter(|secret| !secret.is_empty()).ok_or_else(|| {
                source.error(
                    &self.at,
                    format!("`{}` needs the environment variable {name}, which is not set", self.key.name()),
                    format!("set {name}, or write \"@FILE\""),
                )
            })?;
            let colon = if before.is_empty() { "" } else { ": " };
            Ok(format!("{option}={before}{colon}{secret}"))
        };
        self.values.iter().map(word).collect()
    }
}

/// The value of an option, with its path relative to the working directory.
fn argument(
    key: &ConfigKey,
    text: &str,
    span: &Range<usize>,
    place: Place<'_>,
) -> Result<String, ConfigError> {
    if holds_credential(text) {
        return Err(place.source.error(span, format!("`{}` holds a credential", key.name()), SECRET_HELP));
    }
    let folder = place.folder;
    let value = match key.id() {
        _ if key.kind() == Kind::Secret => return secret(key, text, span, place),
        "spec" if text.parse::<Version>().is_ok() => text.to_owned(),
        "module" if text.contains("://") => text.to_owned(),
        "spec" | "module" => within(folder, text),
        _ if key.is_path() => within(folder, text),
        _ => text.to_owned(),
    };
    checked(key, value, span, place)
}

/// A reference to a credential: a file or a variable.
fn secret(key: &ConfigKey, text: &str, span: &Range<usize>, place: Place<'_>) -> Result<String, ConfigError> {
    // A header has a name before its value.
    let (before, reference) = match text.split_once(": ") {
        Some((name, reference)) if key.is_header() && !name.contains('$') => (format!("{name}: "), reference),
        _ if key.is_header() => (String::new(), ""),
        _ => (String::new(), text),
    };
    if !is_reference(reference) {
        let message = format!("`{}` names neither a file nor an environment variable", key.name());
        return Err(place.source.error(span, message, SECRET_HELP));
    }
    Ok(match reference.strip_prefix('@') {
        Some(path) => format!("{before}@{}", within(place.folder, path)),
        None => text.to_owned(),
    })
}

/// A value that the option accepts.
fn checked(
    key: &ConfigKey,
    value: String,
    span: &Range<usize>,
    place: Place<'_>,
) -> Result<String, ConfigError> {
    let Err(why) = check_value(key.arg(), &value) else { return Ok(value) };
    let help = format!("`edgeproof conformance --help` describes --{}", key.option());
    Err(place.source.error(span, format!("`{}`: {why}", key.name()), help))
}

fn type_error(key: &ConfigKey, value: &Spanned<DeValue<'_>>, place: Place<'_>) -> ConfigError {
    let name = key.name();
    let (expected, example) = match key.kind() {
        Kind::Flag => ("a boolean", format!("{name} = true")),
        Kind::Integer => ("an integer", format!("{name} = 8")),
        Kind::Text => ("a string", format!("{name} = \"…\"")),
        Kind::Secret => ("a string", format!("{name} = \"@FILE\"")),
        Kind::List => ("an array of strings", format!("{name} = [\"…\"]")),
        Kind::Reports => ("a table of formats and paths", format!("{name} = {{ junit = \"edge.xml\" }}")),
    };
    let found = value.get_ref().type_str();
    let article = if found.starts_with(['a', 'i']) { "an" } else { "a" };
    place.source.error(
        &value.span(),
        format!("`{name}` takes {expected}, not {article} {found}"),
        format!("write {example}"),
    )
}
