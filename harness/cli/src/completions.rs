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
