use std::fmt::Write as _;

use clap::{Args, Command};
use edgeproof_cli::project_file::{Search, search};
use edgeproof_cli::{Failure, write_stdout};
use edgeproof_fixtures::spec::PartName;

use super::document::{Config, PART};
use super::in_force::is_variable_set;
use super::key::{ConfigKey, Kind};
use super::merge::{Chosen, Source, source};

/// The JSON Schema of the file.
pub(super) const SCHEMA: &str = include_str!("../../../schema/edgeproof-1.json");
/// Shown for an option without a value.
const NO_VALUE: &str = "-";
/// Where the value of an option comes from that nobody sets.
const DEFAULT: &str = "default";

#[derive(Debug, Args)]
pub(crate) struct ConfigCommandArgs {
    /// Part that is tested: edge, service, keys or collector (default: that of the target)
    #[arg(value_name = "PART", value_parser = part)]
    part: Option<PartName>,
    /// Target of edgeproof.toml
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// Print the JSON Schema of edgeproof.toml, for editors
    #[arg(long, conflicts_with_all = ["part", "target"])]
    schema: bool,
}

/// `edgeproof config`. `command`: the command whose options the file sets.
pub(crate) fn main(args: &ConfigCommandArgs, command: &Command) -> Result<u8, Failure> {
    if args.schema {
        return write_stdout(SCHEMA.as_bytes()).map(|()| 0);
    }
    let keys = ConfigKey::all(command);
    let file = match search()? {
        Search::Found(file) => file,
        Search::Foreign(text) => return none(&keys, args, &text),
        Search::Nothing => return none(&keys, args, "no edgeproof.toml"),
    };
    let config = Config::parse(&file, &keys, command)?;
    let chosen = config.choose(args.part, args.target.as_deref(), &|_| false)?;
    let place = |byte| config.source.place(byte);
    let mut text = table(&config.line(chosen.name), &keys, &chosen, &place);
    if !config.targets.is_empty() {
        _ = writeln!(text, "\nTargets, chosen with --target: {}", config.names());
    }
    write_stdout(text.as_bytes()).map(|()| 0)
}

/// What is in force without a file.
fn none(keys: &[ConfigKey], args: &ConfigCommandArgs, why: &str) -> Result<u8, Failure> {
    if let Some(target) = &args.target {
        return Err(Failure::usage(
            format!("cannot use --target {target}: {why}"),
            "the file is looked for from the working directory up to the root of the repository (.git)",
        ));
    }
    let chosen =
        Chosen { part: args.part.unwrap_or(PartName::Edge), part_at: None, name: None, entries: Vec::new() };
    write_stdout(table(why, keys, &chosen, &|_| String::new()).as_bytes()).map(|()| 0)
}

/// Each option of the part with its value, and where it comes from. `place`: file and line of a byte.
fn table(
    title: &str,
    keys: &[ConfigKey],
    chosen: &Chosen<'_, '_>,
    place: &dyn Fn(usize) -> String,
) -> String {
    let part_from = chosen.part_at.as_ref().map_or_else(|| DEFAULT.to_owned(), |at| place(at.start));
    let part = [PART.to_owned(), chosen.part.to_string(), part_from];
    let of_part = keys.iter().filter(|key| key.parts().contains(&chosen.part));
    let rows: Vec<[String; 3]> =
        std::iter::once(part).chain(of_part.map(|key| row(key, chosen, place))).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let (name_width, value_width) = (width(0), width(1));
    let mut text = format!("{title}\n\n");
    for [name, value, from] in &rows {
        let line = format!("{name:name_width$}  {value:value_width$}  {from}");
        _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn row(key: &ConfigKey, chosen: &Chosen<'_, '_>, place: &dyn Fn(usize) -> String) -> [String; 3] {
    let (value, from) = match source(key, chosen, &|_| false, &is_variable_set) {
        Source::File(entry) => (entry.shown.clone(), place(entry.at.start)),
        Source::Environment(variable) => {
            let value = std::env::var(variable).ok().filter(|_| key.kind() != Kind::Secret);
            (value.unwrap_or_else(|| "set".to_owned()), format!("{variable} in the environment"))
        }
        Source::CommandLine | Source::Default => match default(key) {
            Some(value) => (value, DEFAULT.to_owned()),
            None => (NO_VALUE.to_owned(), String::new()),
        },
    };
    [key.name().to_owned(), value, from]
}

fn default(key: &ConfigKey) -> Option<String> {
    if key.kind() == Kind::Flag {
        return Some(false.to_string());
    }
    let values = key.arg().get_default_values().iter().map(|value| value.to_string_lossy().into_owned());
    Some(values.collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
}

fn part(text: &str) -> Result<PartName, String> {
    let names = PartName::ALL.iter().map(|part| part.name()).collect::<Vec<_>>().join(", ");
    text.parse().map_err(|_| format!("write one of {names}"))
}
