#![doc = include_str!("../README.md")]

pub mod args;
mod ca_file;
mod completions;
mod error_text;
pub mod exit_code;
mod failure;
mod help;
mod launch_words;
mod log_writer;
mod open_files;
mod origin;
mod program;
pub mod project_file;
mod report_arguments;
pub mod signals;
mod stdout;

pub use ca_file::check_ca_file;
pub use completions::CompletionsArgs;
pub use error_text::error_text;
pub use failure::Failure;
pub use log_writer::{LogEnd, LogWriter};
pub use open_files::{FEWEST_OPEN_FILES, OPEN_FILES, open_files_limit, raise_open_files};
pub use origin::parse_origin;
pub use program::{command, run_program, runtime, runtime_of, single_threaded_runtime};
pub use stdout::write_stdout;
