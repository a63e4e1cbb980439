use std::ffi::OsString;
use std::io::Write as _;
use std::ops::Range;

use clap::builder::{Resettable, ValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches as _};
use edgeproof_cli::Failure;
use edgeproof_cli::project_file::{
    ConfigError, ConfigSource, FoundFile, LOAD, SECRET_HELP, Search, check_value, holds_credential,
    is_reference, nearest_name, search, within,
};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::args::{LoadArguments, LoadCommand, ProjectRun};

/// Key of the scenario.
const SCENARIO: &str = "scenario";
/// Key of the reports.
const REPORTS: &str = "reports";
/// Options of one run.
const OF_A_RUN: [&str; 6] = ["color", "help", "quiet", "shard", "shards", "start_at"];

/// The command of a load test in `edgeproof.toml`, completed by options of the command line.
pub(super) fn command_of(run: &ProjectRun) -> Result<LoadCommand, Failure> {
    let file = match search()? {
        Search::Found(file) => file,
        Search::Foreign(why) => return Err(no_load_test(&why, "change the owner of the file")),
        Search::Nothing => {
            let where_to = "write [load.NAME] into it; it is looked for from the working directory up to the root of the \
                            repository (.git)";
            return Err(no_load_test("there is no edgeproof.toml", where_to));
        }
    };
    let command = edgeproof_cli::command::<LoadArguments>();
    let source = file.source(&secret_names(&command));
    let document = file.parse(&source)?;
    // Without a name, the first word is an option.
    let first = run.name.as_ref().map(|name| name.to_string_lossy().into_owned());
    let name = first.filter(|first| !first.starts_with('-'));
    let unnamed = run.name.iter().filter(|_| name.is_none());
    let options: Vec<OsString> = unnamed.chain(&run.options).cloned().collect();
    let (name, at, table) = chosen(&document, name.as_deref(), &source)?;
    let (scenario, scenario_command) = scenario(&command, &name, &at, table, &source)?;
    let given = Given::parse(&scenario_command, &options)?;
    let mut words: Vec<OsString> = vec!["edgeproof-load".into(), scenario.into()];
    let mut from_file = Vec::new();
    for (key, value) in table.iter().filter(|(key, _)| key.get_ref() != SCENARIO) {
        let entry = Entry { file: &file, source: &source, arg: arg(&scenario_command, key, &source)?, value };
        if given.replaces(entry.arg) {
            continue;
        }
        from_file.push(entry.arg.get_id().as_str());
        words.extend(entry.words(key.get_ref())?.into_iter().map(OsString::from));
    }
    words.extend(options);
    let matches = command.try_get_matches_from(words).map_err(Failure::arguments)?;
    let mut chosen = LoadArguments::from_arg_matches(&matches).map_err(Failure::arguments)?.command;
    if let Some(load) = chosen.load() {
        // Programs of the file run in its folder.
        let folder = |id| from_file.contains(&id).then(|| file.absolute_folder());
        (load.launch_folder, load.state_folder) = (folder("launch"), folder("state_command"));
    }
    // Ignore a closed standard error.
    let _ = writeln!(std::io::stderr().lock(), "using {}, {LOAD} {name}", source.name());
    Ok(chosen)
}

fn no_load_test(why: &str, advice: &str) -> Failure {
    Failure::usage(format!("no load test: {why}"), advice)
}

/// The table of a load test: the named one, or the only one.
fn chosen<'d, 't>(
    document: &'d Spanned<DeTable<'t>>,
    name: Option<&str>,
    source: &ConfigSource,
) -> Result<(String, Range<usize>, &'d DeTable<'t>), ConfigError> {
    let example = "write [load.NAME] above the options of a load test, such as scenario = \"edge-relay\"";
    let Some(tables) = document.get_ref().get(LOAD) else {
        return Err(source.whole("it has no load test", example));
    };
    let Some(all) = tables.get_ref().as_table() else {
        return Err(source.error(
            &tables.span(),
            format!("`{LOAD}` takes a table for each load test"),
            example,
        ));
    };
    let names: Vec<&str> = all.iter().map(|(name, _)| name.get_ref().as_ref()).collect();
    let name = match (name, &names[..]) {
        (Some(name), _) => name,
        (None, [only]) => only,
        (None, _) => {
            return Err(source.whole(
                format!("it has {} load tests", names.len()),
                format!("choose one: edgeproof-load run {}", names.join(" | ")),
            ));
        }
    };
    let Some((found, value)) = all.iter().find(|(own, _)| own.get_ref() == name) else {
        let help = match nearest_name(name, names.iter().copied()) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => format!("its load tests: {}", names.join(", ")),
        };
        return Err(source.whole(format!("it has no load test `{name}`"), help));
    };
    match value.get_ref().as_table() {
        Some(table) => Ok((name.to_owned(), found.span(), table)),
        None => {
            Err(source.error(&value.span(), format!("`{LOAD}` takes a table for each load test"), example))
        }
    }
}

/// The scenario that a table names, and its command.
fn scenario(
    command: &Command,
    name: &str,
    at: &Range<usize>,
    table: &DeTable<'_>,
    source: &ConfigSource,
) -> Result<(String, Command), ConfigError> {
    let is_scenario = |command: &&Command| command.get_arguments().any(|arg| arg.get_id() == "rate");
    let names: Vec<&str> = command.get_subcommands().filter(is_scenario).map(Command::get_name).collect();
    let listed = format!("write {SCENARIO} = \"…\" with one of {}", names.join(", "));
    let Some(value) = table.get(SCENARIO) else {
        return Err(source.error(at, format!("the load test `{name}` has no `{SCENARIO}`"), listed));
    };
    let text = value.get_ref().as_str().unwrap_or_default();
    let found = command.get_subcommands().find(|own| own.get_name() == text && names.contains(&text));
    found.map(|found| (text.to_owned(), found.clone())).ok_or_else(|| {
        let help = nearest_name(text, names.iter().copied())
            .map_or(listed, |similar| format!("did you mean \"{similar}\"?"));
        source.error(&value.span(), format!("`{SCENARIO}` names no scenario"), help)
    })
}

/// The option of a key.
fn arg<'c>(
    command: &'c Command,
    key: &Spanned<std::borrow::Cow<'_, str>>,
    source: &ConfigSource,
) -> Result<&'c Arg, ConfigError> {
    let name = key.get_ref().as_ref();
    let is_key = |arg: &&Arg| !OF_A_RUN.contains(&arg.get_id().as_str());
    let key_of =
        |arg: &Arg| if arg.get_id() == "report" { Some(REPORTS) } else { arg.get_long() } == Some(name);
    if let Some(arg) = command.get_opts().filter(is_key).find(|arg| key_of(arg)) {
        return Ok(arg);
    }
    let longs = command.get_opts().filter(is_key).filter_map(Arg::get_long);
    let help = match nearest_name(name, longs.chain([SCENARIO, REPORTS])) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None if command.get_opts().any(|arg| arg.get_long() == Some(name)) => {
            format!("--{name} belongs to one run: give it on the command line")
        }
        None => format!("`edgeproof-load {} --help` lists the options", command.get_name()),
    };
    Err(source.error(&key.span(), format!("the key `{name}` is unknown"), help))
}

/// Names of the options that take a credential.
fn secret_names(command: &Command) -> Vec<&str> {
    let options = command.get_subcommands().flat_map(Command::get_opts);
    options.filter(|arg| is_secret(arg)).filter_map(Arg::get_long).collect()
}

fn is_secret(arg: &Arg) -> bool {
    arg.get_value_names().into_iter().flatten().any(|name| name.contains("@FILE"))
}

/// The options of the command line. What they require may stand in the file.
struct Given<'c> {
    command: &'c Command,
    matches: ArgMatches,
}

impl<'c> Given<'c> {
    fn parse(command: &'c Command, options: &[OsString]) -> Result<Self, Failure> {
        let alone = command.clone().no_binary_name(true).mut_args(|arg| arg.requires(Resettable::Reset));
        let matches = alone.try_get_matches_from(options).map_err(Failure::arguments)?;
        Ok(Self { command, matches })
    }

    fn has(&self, id: &str) -> bool {
        self.matches.value_source(id) == Some(ValueSource::CommandLine)
    }

    /// Whether the command line gives this option, or one that excludes it.
    fn replaces(&self, arg: &Arg) -> bool {
        let excludes = |one: &Arg, other: &Arg| {
            self.command.get_arg_conflicts_with(one).iter().any(|arg| arg.get_id() == other.get_id())
        };
        let given = self.command.get_opts().filter(|own| self.has(own.get_id().as_str()));
        given.into_iter().any(|own| own.get_id() == arg.get_id() || excludes(own, arg) || excludes(arg, own))
    }
}

/// A key of the table with its value.
struct Entry<'e> {
    file: &'e FoundFile,
    source: &'e ConfigSource,
    arg: &'e Arg,
    value: &'e Spanned<DeValue<'e>>,
}

impl Entry<'_> {
    /// The words of its option.
    fn words(&self, key: &str) -> Result<Vec<String>, ConfigError> {
        let option = format!("--{}", self.arg.get_long().unwrap_or_default());
        let values: Vec<String> = match (self.arg.get_action(), self.value.get_ref()) {
            (ArgAction::SetTrue, DeValue::Boolean(set)) => {
                return Ok(if *set { vec![option] } else { Vec::new() });
            }
            (ArgAction::Append, DeValue::Table(reports)) if key == REPORTS => reports
                .iter()
                .map(|(format, path)| {
                    let path = path.get_ref().as_str().ok_or_else(|| self.type_error(key))?;
                    Ok(format!("{}={}", format.get_ref(), within(self.file.folder(), path)))
                })
                .collect::<Result<_, _>>()?,
            (ArgAction::Append, DeValue::Array(items)) if key != REPORTS => {
                let texts = items.iter().map(|item| item.get_ref().as_str());
                let texts: Option<Vec<&str>> = texts.collect();
                let texts = texts.ok_or_else(|| self.type_error(key))?;
                texts.into_iter().map(|text| self.argument(key, text)).collect::<Result<_, _>>()?
            }
            (ArgAction::Set, DeValue::String(text)) => vec![self.argument(key, text)?],
            (ArgAction::Set, DeValue::Integer(number)) if number.radix() == 10 => vec![number.to_string()],
            _ => return Err(self.type_error(key)),
        };
        values.iter().map(|value| self.checked(key, value).map(|()| format!("{option}={value}"))).collect()
    }

    /// A text as the option takes it: paths relative to the working directory, credentials from variables.
    fn argument(&self, key: &str, text: &str) -> Result<String, ConfigError> {
        if holds_credential(text) {
            return Err(self.error(format!("`{key}` holds a credential"), SECRET_HELP));
        }
        if is_secret(self.arg) {
            let (name, value) = text.split_once(": ").unwrap_or(("", text));
            let message = format!("`{key}` names neither a file nor an environment variable");
            if !is_reference(value) || name.contains('$') {
                return Err(self.error(message, SECRET_HELP));
            }
            if let Some(path) = value.strip_prefix('@') {
                return Ok(format!("{name}: @{}", within(self.file.folder(), path)));
            }
            let variable = value.trim_start_matches('$');
            let secret = std::env::var(variable).ok().filter(|secret| !secret.is_empty());
            return secret.map(|secret| format!("{name}: {secret}")).ok_or_else(|| {
                let message = format!("`{key}` needs the environment variable {variable}, which is not set");
                self.error(message, format!("set {variable}, or write \"@FILE\""))
            });
        }
        let is_path = self.arg.get_value_parser().type_id() == ValueParser::path_buf().type_id();
        let is_spec =
            self.arg.get_id() == "spec" && text.parse::<edgeproof_fixtures::spec::Version>().is_err();
        Ok(if is_path || is_spec { within(self.file.folder(), text) } else { text.to_owned() })
    }

    /// Checks that the option accepts a value.
    fn checked(&self, key: &str, value: &str) -> Result<(), ConfigError> {
        let Err(why) = check_value(self.arg, value) else { return Ok(()) };
        let option = self.arg.get_long().unwrap_or_default();
        Err(self.error(format!("`{key}`: {why}"), format!("the help of the scenario describes --{option}")))
    }

    fn type_error(&self, key: &str) -> ConfigError {
        let (expected, example) = match self.arg.get_action() {
            ArgAction::SetTrue => ("a boolean", format!("{key} = true")),
            ArgAction::Append if key == REPORTS => {
                ("a table of formats and paths", format!("{key} = {{ junit = \"load.xml\" }}"))
            }
            ArgAction::Append => ("an array of strings", format!("{key} = [\"…\"]")),
            _ => ("a string or an integer", format!("{key} = \"…\"")),
        };
        self.error(format!("`{key}` takes {expected}"), format!("write {example}"))
    }

    fn error(&self, message: impl Into<Box<str>>, help: impl Into<Box<str>>) -> ConfigError {
        self.source.error(&self.value.span(), message, help)
    }
}
