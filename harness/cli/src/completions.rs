use std::path::PathBuf;

use clap::{Args, Parser};
use clap_complete::Shell;

use super::{Failure, command, write_stdout};

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    /// Prints the completions of the program `A`.
    pub fn print<A: Parser>(&self) -> Result<u8, Failure> {
        let mut command = command::<A>();
        let name = command.get_name().to_owned();
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, name, &mut script);
        write_stdout(&script)?;
        Ok(0)
    }
}

/// Arguments of `manual`, which packages call.
#[derive(Debug, Args)]
pub struct ManualArgs {
    /// Folder for the man pages; it exists
    dir: PathBuf,
}

impl ManualArgs {
    /// Writes a man page of the program `A` and one of each command.
    pub fn write<A: Parser>(&self) -> Result<u8, Failure> {
        clap_mangen::generate_to(command::<A>(), &self.dir).map_err(|why| {
            Failure::usage(
                format!("cannot write man pages to {}: {why}", self.dir.display()),
                "name a folder that exists, and that you may write to",
            )
        })?;
        Ok(0)
    }
}
