use std::process::ExitCode;

use clap::{Arg, Command, Parser};
use tokio::runtime::{Builder, Runtime};

use super::Failure;
use super::exit_code::USAGE;

/// Runs a program: parses its arguments, calls `run`, prints a failure, and yields the exit code.
pub fn run_program<A: Parser>(run: impl FnOnce(A) -> Result<u8, Failure>) -> ExitCode {
    let matches = command::<A>().try_get_matches();
    let arguments = match matches.and_then(|matches| A::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help goes to standard output with 0, everything else to standard error with 2.
            let code = if error.use_stderr() { USAGE } else { 0 };
            // A closed pipe is no failure: its reader has seen enough.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    ExitCode::from(run(arguments).unwrap_or_else(|failure| failure.print()))
}

/// The command line of `A`, whose help names each default as `(default: …)`.
pub fn command<A: Parser>() -> Command {
    with_defaults(A::command())
}

/// Tokio runtime with one worker thread for each core.
pub fn runtime() -> Result<Runtime, Failure> {
    Builder::new_multi_thread().enable_all().build().map_err(|why| {
        Failure::usage(format!("start the runtime: {why}"), "raise the limits on threads and open files")
    })
}

fn with_defaults(command: Command) -> Command {
    command.mut_args(with_default).mut_subcommands(with_defaults)
}

fn with_default(arg: Arg) -> Arg {
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if defaults.is_empty() || !arg.get_action().takes_values() {
        return arg;
    }
    let help = format!("{} (default: {})", arg.get_help().cloned().unwrap_or_default(), defaults.join(","));
    arg.hide_default_value(true).help(help)
}
