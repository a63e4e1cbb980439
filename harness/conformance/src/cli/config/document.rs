use std::ops::Range;
use std::path::PathBuf;

use clap::Command;
use edgeproof_cli::project_file::{ConfigError, ConfigSource, FoundFile, LOAD};
use edgeproof_fixtures::spec::PartName;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::key::{ConfigKey, Kind, target_names};
use super::value::{Entry, Place};
use crate::nearest::nearest;

/// Key of the part that a section tests.
pub(super) const PART: &str = "part";
/// Table of the named targets.
pub(super) const TARGET: &str = "target";

/// The content of `edgeproof.toml`.
#[derive(Debug)]
pub(crate) struct Config<'k> {
    pub(super) source: ConfigSource,
    pub(super) folder: PathBuf,
    /// What stands above the tables of targets.
    pub(super) top: Section<'k>,
    pub(super) targets: Vec<(String, Section<'k>)>,
}

/// Keys that stand together.
#[derive(Debug)]
pub(crate) struct Section<'k> {
    pub(super) part: PartName,
    /// Where the part is named.
    pub(super) part_at: Option<Range<usize>>,
    pub(super) entries: Vec<Entry<'k>>,
}

impl Section<'_> {
    /// Whether it says what is tested.
    pub(super) fn names_target(&self) -> bool {
        self.entries.iter().any(|entry| entry.key.names_target())
    }
}

impl<'k> Config<'k> {
    /// Parses a file. `command`: the command whose options are `keys`.
    pub(super) fn parse(
        file: &FoundFile,
        keys: &'k [ConfigKey],
        command: &Command,
    ) -> Result<Self, ConfigError> {
        let secrets = keys.iter().filter(|key| key.kind() == Kind::Secret).map(ConfigKey::name);
        let source = file.source(&secrets.collect::<Vec<_>>());
        let document = file.parse(&source)?;
        let parser = SectionParser { place: Place { source: &source, folder: file.folder() }, keys, command };
        let top = parser.section(document.get_ref(), true)?;
        let mut targets = Vec::new();
        if let Some(tables) = document.get_ref().get(TARGET) {
            let table = |value: &Spanned<DeValue<'_>>, example: &str| {
                source.error(&value.span(), format!("`{TARGET}` takes a table for each target"), example)
            };
            let tables = tables
                .get_ref()
                .as_table()
                .ok_or_else(|| table(tables, "write [target.NAME] above its keys"))?;
            for (name, value) in tables {
                let help = format!("write [target.NAME] above `{}`", name.get_ref());
                let keys = value.get_ref().as_table().ok_or_else(|| table(value, &help))?;
                let section = parser.section(keys, false)?;
                if !section.names_target() {
                    let part = section.part;
                    return Err(source.error(
                        &name.span(),
                        format!("target `{}` does not say what is tested", name.get_ref()),
                        format!(
                            "add {} to it, or set `{PART}` to another part than {part}",
                            target_names(part)
                        ),
                    ));
                }
                targets.push((name.get_ref().to_string(), section));
            }
        }
        let folder = file.folder().to_owned();
        Ok(Self { source, folder, top, targets })
    }
}

/// Parses the sections of a file.
struct SectionParser<'p, 'k> {
    place: Place<'p>,
    keys: &'k [ConfigKey],
    command: &'p Command,
}

impl<'k> SectionParser<'_, 'k> {
    fn section(&self, table: &DeTable<'_>, is_top: bool) -> Result<Section<'k>, ConfigError> {
        let source = self.place.source;
        let part = table.get(PART).map_or(Ok(PartName::Edge), |value| self.part(value))?;
        let mut entries: Vec<Entry<'k>> = Vec::new();
        for (name, value) in table {
            let text: &str = name.get_ref();
            if text == PART || (is_top && [TARGET, LOAD].contains(&text)) {
                continue;
            }
            let key = self.key(text, &name.span(), is_top)?;
            if !key.parts().contains(&part) {
                let parts: Vec<_> = key.parts().iter().map(|part| format!("{PART} = \"{part}\"")).collect();
                return Err(source.error(
                    &name.span(),
                    format!("`{text}` does not apply to `{part}`"),
                    format!("move it to a target with {}", parts.join(" or ")),
                ));
            }
            let entry = Entry::parse(key, value, self.place)?;
            if let Some(other) = entries.iter().find(|other| self.is_conflict(key, other.key)) {
                return Err(source.error(
                    &name.span(),
                    format!("`{text}` and `{}` exclude each other", other.key.name()),
                    "keep one of them, or write a [target.NAME] for each",
                ));
            }
            entries.push(entry);
        }
        Ok(Section { part, part_at: table.get(PART).map(Spanned::span), entries })
    }

    fn part(&self, value: &Spanned<DeValue<'_>>) -> Result<PartName, ConfigError> {
        let text = value.get_ref().as_str().unwrap_or_default();
        text.parse().map_err(|_| {
            let names = PartName::ALL.iter().map(|part| part.name());
            let help = match nearest(text, names.clone()).first() {
                Some(similar) => format!("did you mean \"{similar}\"?"),
                None => format!("write one of {}", names.collect::<Vec<_>>().join(", ")),
            };
            self.place.source.error(&value.span(), format!("`{PART}` names no part"), help)
        })
    }

    fn key(&self, name: &str, span: &Range<usize>, is_top: bool) -> Result<&'k ConfigKey, ConfigError> {
        if let Some(key) = self.keys.iter().find(|key| key.name() == name) {
            return Ok(key);
        }
        let own = [PART, TARGET, LOAD].into_iter().filter(|own| is_top || *own == PART);
        let similar = nearest(name, self.keys.iter().map(ConfigKey::name).chain(own));
        let help = match similar.first() {
            Some(similar) => format!("did you mean `{similar}`?"),
            None if self.command.get_opts().any(|arg| arg.get_long() == Some(name)) => {
                format!("--{name} belongs to one run: give it on the command line")
            }
            None => "`edgeproof config` lists the keys".to_owned(),
        };
        Err(self.place.source.error(span, format!("the key `{name}` is unknown"), help))
    }

    fn is_conflict(&self, one: &ConfigKey, other: &ConfigKey) -> bool {
        let refuses = |one: &ConfigKey, other: &ConfigKey| {
            self.command
                .get_arg_conflicts_with(one.arg())
                .iter()
                .any(|arg| arg.get_id().as_str() == other.id())
        };
        refuses(one, other) || refuses(other, one)
    }
}
