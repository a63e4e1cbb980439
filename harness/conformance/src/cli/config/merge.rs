use std::ops::Range;

use edgeproof_cli::project_file::ConfigError;
use edgeproof_fixtures::spec::PartName;

use super::document::{Config, TARGET};
use super::key::{ConfigKey, target_names, targets};
use super::value::Entry;
use crate::nearest::nearest;

/// Options of an edge that edgeproof starts.
const LAUNCHED: [&str; 4] = ["launch", "port_env", "ready_timeout", "edge_scheme"];
/// Options of an edge that already runs.
const ATTACHED: [&str; 5] = ["url", "settings", "service_listen", "no_service", "origin"];

/// Where a value in force comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source<'c, 'k> {
    CommandLine,
    /// An environment variable.
    Environment(&'static str),
    File(&'c Entry<'k>),
    Default,
}

/// The section in force, with what it takes from the keys above the tables.
#[derive(Debug)]
pub(super) struct Chosen<'c, 'k> {
    pub(super) part: PartName,
    /// Where the file names the part.
    pub(super) part_at: Option<Range<usize>>,
    /// Name of the target.
    pub(super) name: Option<&'c str>,
    pub(super) entries: Vec<&'c Entry<'k>>,
}

impl<'k> Config<'k> {
    /// The section that a command uses. `part`: the part that the command line names; `has`: what it gives.
    pub(super) fn choose(
        &self,
        part: Option<PartName>,
        target: Option<&str>,
        has: &dyn Fn(&str) -> bool,
    ) -> Result<Chosen<'_, 'k>, ConfigError> {
        if let Some(name) = target {
            let chosen = self.named(name)?;
            if let Some(part) = part.filter(|part| *part != chosen.part) {
                return Err(self.source.whole(
                    format!("target `{name}` has the part `{}`, and the command tests `{part}`", chosen.part),
                    format!("omit `{part}`, or choose another target"),
                ));
            }
            return Ok(chosen);
        }
        let given = targets()
            .filter(|(id, of)| part.is_none_or(|part| part == *of) && has(id))
            .map(|(_, of)| of)
            .next();
        let part = part.or(given);
        let is_given = given.is_some() || has(TARGET);
        let fits = |of: PartName| part.is_none_or(|part| part == of);
        let top = &self.top;
        if top.names_target() && fits(top.part) {
            return Ok(Chosen {
                part: top.part,
                part_at: top.part_at.clone(),
                name: None,
                entries: top.entries.iter().collect(),
            });
        }
        let part = part.unwrap_or(top.part);
        let part_at = top.part_at.clone().filter(|_| part == top.part);
        let shared = Chosen { part, part_at, name: None, entries: self.shared(part) };
        let mut fitting = self.targets.iter().filter(|(_, section)| fits(section.part));
        match (fitting.next(), fitting.next()) {
            _ if is_given => Ok(shared),
            (None, _) => Ok(shared),
            (Some((name, _)), None) => self.named(name),
            (Some(_), Some(_)) => Err(self.source.whole(
                format!("it names several targets: {}", self.names()),
                "choose one with --target NAME, or add --embedded to test the built-in part",
            )),
        }
    }

    fn named(&self, name: &str) -> Result<Chosen<'_, 'k>, ConfigError> {
        let Some((name, section)) = self.targets.iter().find(|(own, _)| own == name) else {
            let similar = nearest(name, self.targets.iter().map(|(name, _)| name.as_str()));
            let help = match similar.first() {
                Some(similar) => format!("did you mean `{similar}`?"),
                None if self.targets.is_empty() => format!("add a table [target.{name}]"),
                None => format!("its targets: {}", self.names()),
            };
            return Err(self.source.whole(format!("it has no target `{name}`"), help));
        };
        let own: Vec<_> = section.entries.iter().collect();
        let is_own = |entry: &Entry<'_>| own.iter().any(|own| own.key.id() == entry.key.id());
        let shared = self.shared(section.part).into_iter().filter(|entry| !is_own(entry));
        let entries = shared.chain(own.iter().copied()).collect();
        Ok(Chosen { part: section.part, part_at: section.part_at.clone(), name: Some(name), entries })
    }

    /// What a part takes from the keys above the tables: no part of a target, and no cases of another part.
    fn shared(&self, part: PartName) -> Vec<&Entry<'k>> {
        let is_shared = |key: &ConfigKey| {
            !key.is_of_target()
                && key.parts().contains(&part)
                && (!key.is_of_cases() || self.top.part == part)
        };
        self.top.entries.iter().filter(|entry| is_shared(entry.key)).collect()
    }

    pub(super) fn names(&self) -> String {
        self.targets.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// A run of a built-in part would say nothing about the project, and pass.
    pub(super) fn untargeted(&self, part: PartName) -> ConfigError {
        let advice = format!("add {} to it, or `--embedded` to test the built-in part", target_names(part));
        self.source.whole("it does not say what is tested", advice)
    }

    /// The first line of the output.
    pub(super) fn line(&self, target: Option<&str>) -> String {
        let target = target.map(|name| format!(", target {name}")).unwrap_or_default();
        format!("using {}{target}", self.source.name())
    }
}

/// Where the value of a key comes from. The command line goes before the environment, the environment before the file.
pub(super) fn source<'c, 'k>(
    key: &ConfigKey,
    chosen: &Chosen<'c, 'k>,
    has: &dyn Fn(&str) -> bool,
    is_variable_set: &dyn Fn(&str) -> bool,
) -> Source<'c, 'k> {
    if has(key.id()) {
        return Source::CommandLine;
    }
    if let Some(variable) = key.variable().filter(|variable| is_variable_set(variable)) {
        return Source::Environment(variable);
    }
    let entry = chosen.entries.iter().find(|entry| entry.key.id() == key.id());
    entry.filter(|_| !is_replaced(key.id(), has)).map_or(Source::Default, |entry| Source::File(entry))
}

/// Whether the command line gives another target than the one that an option of the file belongs to.
fn is_replaced(id: &str, has: &dyn Fn(&str) -> bool) -> bool {
    match id {
        "url" if has(TARGET) => true,
        _ if LAUNCHED.contains(&id) => has(TARGET) || ATTACHED.iter().any(|id| has(id)),
        _ if ATTACHED.contains(&id) => has("launch"),
        "state_url" | "state_header" => has("state_command"),
        "state_command" => has("state_url"),
        _ => false,
    }
}
