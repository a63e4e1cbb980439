use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use edgeproof_cli::Failure;
use edgeproof_fixtures::spec::PartName;

use super::ConfigArgs;
use super::document::{Config, TARGET};
use super::file::{Search, search};
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
pub(crate) struct Positional<'a> {
    /// The argument.
    pub(crate) word: Option<&'a str>,
    /// The part that it names.
    pub(crate) part: Option<PartName>,
    /// Whether it is the URL of an edge.
    pub(crate) is_url: bool,
    /// Whether the command needs no target: it has the URL, or shows a case at the reference edge.
    pub(crate) is_free: bool,
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
    let mut word = positional.word.map(str::to_owned);
    let (mut line, mut project, mut folders) = (None, None, Vec::new());
    match if config.no_config { Search::Nothing } else { search()? } {
        Search::Found(file) => {
            let keys = ConfigKey::all(options);
            let found = Config::parse(&file, &keys, options)?;
            let has = |id: &str| given.has(id) && (id != TARGET || positional.is_url);
            let chosen = found.choose(positional.part, config.target.as_deref(), &has)?;
            let names_target = chosen.entries.iter().any(|entry| entry.key.names_target());
            if !positional.is_free && !names_target && !targets().any(|(id, _)| given.has(id)) {
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
                folders.extend(program.map(|id| (id, absolute(&found.folder))));
            }
            word = word.or_else(|| Some(chosen.part.to_string()));
        }
        Search::Foreign(text) if config.target.is_some() => {
            return Err(Failure::usage(
                format!("cannot use --target: {text}"),
                "change the owner of the file",
            ));
        }
        // Without the file, the run would test a built-in part, and pass.
        Search::Foreign(text) if !positional.is_free && !targets().any(|(id, _)| given.has(id)) => {
            return Err(Failure::usage(
                format!("no target: {text}"),
                "change the owner of the file, name a target such as --launch CMD, or add --no-config",
            ));
        }
        Search::Foreign(text) => line = Some(text),
        Search::Nothing => {
            if let Some(target) = &config.target {
                return Err(Failure::usage(
                    format!("cannot use --target {target}: there is no edgeproof.toml"),
                    "it is looked for from the working directory up to the root of the repository (.git)",
                ));
            }
        }
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

/// Whether an environment variable has a value.
pub(super) fn is_variable_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// The folder for a program that starts there.
fn absolute(folder: &Path) -> PathBuf {
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
