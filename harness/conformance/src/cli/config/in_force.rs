use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, Command};
use edgeproof_cli::Failure;
use edgeproof_cli::project_file::{Search, search};
use edgeproof_fixtures::spec::PartName;

use super::ConfigArgs;
use super::document::{Config, TARGET};
use super::given::Given;
use super::key::{ConfigKey, targets};
use super::merge::{Source, source};

/// Options whose program runs in the folder of the file.
const PROGRAMS: [&str; 3] = ["launch", "state_command", "open_with"];

/// Arguments in force: those of the command line, completed by `edgeproof.toml`.
#[derive(Debug)]
pub(crate) struct InForce<A> {
    /// The arguments.
    pub(crate) args: A,
    /// The first line of the output: the file that is used or ignored.
    pub(crate) line: Option<String>,
    /// The folder of the file in force.
    pub(crate) project: Option<PathBuf>,
    folders: Vec<(&'static str, PathBuf)>,
}

/// The argument of a command that is no option.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Positional<'a> {
    /// None.
    Absent,
    /// A part.
    Part(PartName),
    /// The URL of an edge.
    Url(&'a str),
    /// A case of an edge, which may be shown at the reference edge.
    Case(&'a str),
    /// None: the command is about an edge, and is useful without one.
    Edge,
}

impl Positional<'_> {
    fn word(&self) -> Option<String> {
        match self {
            Self::Absent | Self::Edge => None,
            Self::Part(part) => Some(part.to_string()),
            Self::Url(word) | Self::Case(word) => Some((*word).to_owned()),
        }
    }

    fn part(&self) -> Option<PartName> {
        match self {
            Self::Absent => None,
            Self::Part(part) => Some(*part),
            Self::Url(_) | Self::Case(_) | Self::Edge => Some(PartName::Edge),
        }
    }

    fn is_url(&self) -> bool {
        matches!(self, Self::Url(_))
    }

    /// Whether the command makes no sense without a target: it would test a built-in part, pass, and say nothing about the
    /// project.
    fn needs_target(&self) -> bool {
        matches!(self, Self::Absent | Self::Part(_))
    }
}

impl<A> InForce<A> {
    /// The folder in which the program of this option runs, if the option comes from the file.
    pub(crate) fn folder(&self, id: &str) -> Option<PathBuf> {
        self.folders.iter().find(|(own, _)| *own == id).map(|(_, folder)| folder.clone())
    }

    /// Prints the first line to standard error.
    pub(crate) fn note(&self) {
        if let Some(line) = &self.line {
            // Ignore a closed standard error.
            let _ = writeln!(std::io::stderr().lock(), "{line}");
        }
    }
}

/// Completes the arguments of `command` from `edgeproof.toml`. `options`: the command whose options the file sets.
pub(crate) fn in_force<A: Args>(
    command: &'static str,
    options: &Command,
    given: &Given<A>,
    config: &ConfigArgs,
    positional: Positional<'_>,
) -> Result<InForce<A>, Failure> {
    let own = A::augment_args(Command::new(command));
    let mut words: Vec<OsString> = vec!["edgeproof".into(), command.into()];
    let mut word = positional.word();
    let is_untargeted = positional.needs_target() && !targets().any(|(id, _)| given.has(id));
    let (mut line, mut project, mut folders) = (None, None, Vec::new());
    match if config.no_config { Search::Nothing } else { search()? } {
        Search::Found(file) => {
            let keys = ConfigKey::all(options);
            let found = Config::parse(&file, &keys, options)?;
            let has = |id: &str| given.has(id) && (id != TARGET || positional.is_url());
            let chosen = found.choose(positional.part(), config.target.as_deref(), &has)?;
            let names_target = chosen.entries.iter().any(|entry| entry.key.names_target());
            if is_untargeted && !names_target {
                return Err(found.untargeted(chosen.part).into());
            }
            line = Some(found.line(chosen.name));
            project = Some(found.folder.clone());
            let is_own = |key: &&ConfigKey| own.get_opts().any(|arg| arg.get_id().as_str() == key.id());
            for key in keys.iter().filter(is_own) {
                let Source::File(entry) = source(key, &chosen, &has, &is_variable_set) else { continue };
                let option = entry.words(&|name| std::env::var(name).ok(), &found.source)?;
                words.extend(option.into_iter().map(OsString::from));
                let program = PROGRAMS.into_iter().find(|id| *id == key.id());
                folders.extend(program.map(|id| (id, file.absolute_folder())));
            }
            if matches!(positional, Positional::Absent) {
                word = Some(chosen.part.to_string());
            }
        }
        Search::Foreign(why) => line = Some(ignored(why, config.target.as_deref(), is_untargeted)?),
        Search::Nothing => check_no_target(config.target.as_deref())?,
    }
    words.extend(given.words());
    words.extend(word.map(OsString::from));
    // The same usage line as in errors of the command line.
    let whole = Command::new("edgeproof").subcommand(own);
    let matches = whole.try_get_matches_from(words).map_err(Failure::arguments)?;
    let matches = matches.subcommand_matches(command).expect("the words name the command");
    let args = A::from_arg_matches(matches).map_err(Failure::arguments)?;
    Ok(InForce { args, line, project, folders })
}

/// The first line of a run that ignores a file.
fn ignored(why: String, target: Option<&str>, is_untargeted: bool) -> Result<String, Failure> {
    match target {
        Some(target) => Err(Failure::usage(
            format!("cannot use --target {target}: {why}"),
            "change the owner of the file",
        )),
        None if is_untargeted => Err(Failure::usage(
            format!("no target: {why}"),
            "change the owner of the file, name a target such as --launch CMD, or add --no-config",
        )),
        None => Ok(why),
    }
}

fn check_no_target(target: Option<&str>) -> Result<(), Failure> {
    let Some(target) = target else { return Ok(()) };
    Err(Failure::usage(
        format!("cannot use --target {target}: there is no edgeproof.toml"),
        "it is looked for from the working directory up to the root of the repository (.git)",
    ))
}

/// Whether an environment variable has a value.
pub(super) fn is_variable_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}
