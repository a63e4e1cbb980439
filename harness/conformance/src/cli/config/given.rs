use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, builder::Resettable};

/// Arguments as the command line gives them. An option that others require may come from the file, so that only the
/// merged arguments are checked for it.
#[derive(Debug)]
pub(crate) struct Given<A> {
    /// The arguments.
    pub(crate) args: A,
    matches: ArgMatches,
}

impl<A: Args> Given<A> {
    /// Whether the command line gives this argument, by its id.
    pub(super) fn has(&self, id: &str) -> bool {
        // The command may lack the argument.
        let is_known = self.matches.try_contains_id(id).is_ok();
        is_known && self.matches.value_source(id) == Some(ValueSource::CommandLine)
    }

    /// The given options as words.
    pub(super) fn words(&self) -> Vec<OsString> {
        let command = A::augment_args(Command::new(""));
        command
            .get_opts()
            .filter(|arg| self.has(arg.get_id().as_str()))
            .flat_map(|arg| self.words_of(arg))
            .collect()
    }

    fn words_of(&self, arg: &Arg) -> Vec<OsString> {
        let option = format!("--{}", arg.get_long().unwrap_or_default());
        if matches!(arg.get_action(), ArgAction::SetTrue) {
            return vec![option.into()];
        }
        let values = self.matches.get_raw(arg.get_id().as_str()).into_iter().flatten();
        let word = |value| {
            let mut word = OsString::from(format!("{option}="));
            word.push(value);
            word
        };
        values.map(word).collect()
    }
}

impl<A: FromArgMatches> FromArgMatches for Given<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { args: A::from_arg_matches(matches)?, matches: matches.clone() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<A: Args> Args for Given<A> {
    fn augment_args(command: Command) -> Command {
        A::augment_args(command).mut_args(|arg| arg.requires(Resettable::Reset))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
