#![doc = include_str!("../README.md")]

mod base_url;
mod command;
mod descendants;
mod error;
mod exit;
mod filter;
mod launch;
mod listeners;
mod log;
mod machine;
mod mark;
mod port;
mod process;
#[cfg(target_os = "linux")]
mod processes;
mod pump;
mod running;

pub use base_url::{BaseUrl, BaseUrlError};
pub use command::{CommandError, CommandLine};
pub use error::LaunchError;
pub use exit::ExitInfo;
pub use filter::{Filter, FilterError, FilterOutput};
pub use launch::{Launch, PortName, PortNameError, Scheme, probe};
pub use log::{LogLine, LogTail, Stream};
pub use machine::{MachineTimes, ProcessorTime, TimeLimit, cpu_cgroups, open_files, process_tree};
pub use port::HeldPort;
pub use process::{Process, ProcessStart};
pub use running::RunningProgram;
