use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::thread::available_parallelism;

use clap::{Command, Parser};
use tokio::runtime::{Builder, Runtime};

use super::Failure;
use super::exit_code::USAGE;
use super::help::with_defaults;
use super::launch_words::unquoted_launch;
use super::open_files::{OPEN_FILES, raise_open_files};
use super::report_arguments::separate;

/// Runs a program: parses its arguments, calls `run`, prints a failure, and yields the exit code.
pub fn run_program<A: Parser>(run: impl FnOnce(A) -> Result<u8, Failure>) -> ExitCode {
    let mut parser = command::<A>();
    let words: Vec<OsString> = std::env::args_os().collect();
    let parsed = parser.try_get_matches_from_mut(separate(words.iter().cloned()));
    let arguments = match parsed.and_then(|matches| A::from_arg_matches(&matches)) {
        Ok(arguments) => arguments,
        Err(error) => {
            if let Some(failure) = unquoted_launch(&error, &parser, &words) {
                return ExitCode::from(failure.print());
            }
            let error = error.format(&mut parser);
            // Help goes to standard output with 0, everything else to standard error with 2.
            let code = if error.use_stderr() { USAGE } else { 0 };
            // A closed pipe is no failure: its reader has read enough.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    raise_open_files(OPEN_FILES);
    ExitCode::from(run(arguments).unwrap_or_else(|failure| failure.print()))
}

/// The command line of `A`, whose help names each default as `(default: …)`.
pub fn command<A: Parser>() -> Command {
    with_defaults(A::command())
}

/// Tokio runtime with one worker thread for each core.
pub fn runtime() -> Result<Runtime, Failure> {
    build(&mut Builder::new_multi_thread())
}

/// Tokio runtime with this many worker threads.
pub fn runtime_of(workers: usize) -> Result<Runtime, Failure> {
    build(Builder::new_multi_thread().worker_threads(workers.max(1)))
}

/// Tokio runtime with one thread for connections, and one blocking thread for each core. Several threads for connections
/// would wake each other for most requests.
pub fn single_threaded_runtime() -> Result<Runtime, Failure> {
    let cores = available_parallelism().map_or(1, NonZeroUsize::get);
    build(Builder::new_current_thread().max_blocking_threads(cores))
}

fn build(builder: &mut Builder) -> Result<Runtime, Failure> {
    builder.enable_all().build().map_err(|why| {
        Failure::usage(
            format!("cannot start the runtime: {why}"),
            "raise the limits on threads and open files (ulimit -u, ulimit -n)",
        )
    })
}
