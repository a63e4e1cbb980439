use clap::builder::ValueParser;
use clap::{Arg, ArgAction, Command};
use edgeproof_fixtures::spec::PartName::{self, Collector, Edge, Keys, Service};

/// Options that belong to one run, or to the user who starts it.
const OF_A_RUN: [&str; 17] = [
    "color",
    "config_target",
    "details",
    "embedded",
    "failed",
    "github",
    "help",
    "hold",
    "list",
    "no_config",
    "quiet",
    "record",
    "rerun_failed",
    "session_ref",
    "target",
    "verbose",
    "write_baseline",
];
/// Options that name cases, or points that cases observe: they hold for one part.
const OF_CASES: [&str; 5] = ["baseline", "exclude", "filter", "pin", "replay"];
/// Options that say what is tested, with their part.
const TARGETS: [(&str, PartName); 5] =
    [("launch", Edge), ("url", Edge), ("base_url", Service), ("keys_url", Keys), ("module", Collector)];
/// Variables that are read where an option is missing.
const VARIABLES: [(&str, &str); 3] =
    [("read_token", "READ_TOKEN"), ("expired_token", "READ_TOKEN_EXPIRED"), ("chromium", "CHROME")];

/// A key of the file: an option of the command line.
#[derive(Debug)]
pub(crate) struct ConfigKey {
    arg: Arg,
    kind: Kind,
}

/// How the file writes the value of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number.
    Integer,
    /// A string.
    Text,
    /// A credential: `@FILE`, or `$NAME` for an environment variable.
    Secret,
    /// An array of strings.
    List,
    /// A table of formats and paths.
    Reports,
}

impl ConfigKey {
    /// The keys for the options of a command.
    pub(crate) fn all(command: &Command) -> Vec<Self> {
        let options = command.get_opts().filter(|arg| !OF_A_RUN.contains(&arg.get_id().as_str()));
        options.map(|arg| Self { arg: arg.clone(), kind: kind(arg) }).collect()
    }

    /// Its name in the file.
    pub(super) fn name(&self) -> &str {
        match self.kind {
            Kind::Reports => "reports",
            _ => self.option(),
        }
    }

    /// The long name of its option.
    pub(crate) fn option(&self) -> &str {
        self.arg.get_long().expect("each option has a long name")
    }

    /// The id of its option.
    pub(super) fn id(&self) -> &str {
        self.arg.get_id().as_str()
    }

    pub(super) fn arg(&self) -> &Arg {
        &self.arg
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Parses values.
    pub(super) fn parser(&self) -> &ValueParser {
        self.arg.get_value_parser()
    }

    /// Whether its values are paths.
    pub(super) fn is_path(&self) -> bool {
        self.parser().type_id() == ValueParser::path_buf().type_id()
    }

    /// Whether its value is a header, whose value is a credential.
    pub(super) fn is_header(&self) -> bool {
        self.id() == "state_header"
    }

    /// Whether it belongs to a target: a part of the system that is tested, and how it is reached.
    pub(super) fn is_of_target(&self) -> bool {
        matches!(self.arg.get_help_heading(), Some("Edge" | "Service and key set" | "Collector"))
    }

    /// Whether it names cases, so that it holds for one part.
    pub(super) fn is_of_cases(&self) -> bool {
        OF_CASES.contains(&self.id())
    }

    /// Whether it says what is tested.
    pub(super) fn names_target(&self) -> bool {
        TARGETS.iter().any(|(id, _)| *id == self.id())
    }

    /// Environment variable that goes before the file.
    pub(super) fn variable(&self) -> Option<&'static str> {
        VARIABLES.iter().find(|(id, _)| *id == self.id()).map(|(_, variable)| *variable)
    }

    /// Parts whose command takes the option.
    pub(crate) fn parts(&self) -> &'static [PartName] {
        match (self.id(), self.arg.get_help_heading()) {
            ("fuzz" | "reply_shape" | "thorough", _) | (_, Some("Edge")) => &[Edge],
            ("keys_url", _) => &[Keys],
            (_, Some("Service and key set")) => &[Service, Keys],
            (_, Some("Collector")) => &[Collector],
            ("explore" | "replay" | "save", _) => &[Edge, Service],
            ("waits", _) => &[Edge, Service, Keys],
            _ => PartName::ALL,
        }
    }
}

#[cfg(test)]
impl ConfigKey {
    /// Its option with a value that is right.
    pub(crate) fn example(&self) -> String {
        let value = match (self.kind, self.option()) {
            (Kind::Flag, option) => return format!("--{option}"),
            (_, "service-listen") => "127.0.0.1:1",
            (_, "ready-timeout" | "case-timeout") => "1s",
            (_, "edge-scheme") => "https",
            (_, "origin") => "https://shop.example",
            (_, "spec") => "current",
            (Kind::Reports, _) => "json=a",
            (Kind::Integer, _) => "2",
            _ => "@a",
        };
        format!("--{}={value}", self.option())
    }
}

/// The options that say what is tested in this part, such as `launch` or `url`.
pub(super) fn target_names(part: PartName) -> String {
    let names =
        TARGETS.iter().filter(|(_, of)| *of == part).map(|(id, _)| format!("`{}`", id.replace('_', "-")));
    names.collect::<Vec<_>>().join(" or ")
}

/// Ids of the options that say what is tested, with their part.
pub(super) fn targets() -> impl Iterator<Item = (&'static str, PartName)> {
    TARGETS.into_iter()
}

fn kind(arg: &Arg) -> Kind {
    let is_integer = |parser: &ValueParser| {
        [
            ValueParser::from(clap::value_parser!(u16)),
            clap::value_parser!(u32).into(),
            clap::value_parser!(u64).into(),
        ]
        .iter()
        .any(|integer| integer.type_id() == parser.type_id())
    };
    let is_secret = arg.get_value_names().into_iter().flatten().any(|name| name.contains("@FILE"));
    match arg.get_action() {
        ArgAction::SetTrue => Kind::Flag,
        ArgAction::Append if arg.get_long() == Some("report") => Kind::Reports,
        ArgAction::Append => Kind::List,
        _ if is_secret => Kind::Secret,
        _ if is_integer(arg.get_value_parser()) => Kind::Integer,
        _ => Kind::Text,
    }
}
