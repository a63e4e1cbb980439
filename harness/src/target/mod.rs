//! The edge under test: embedded, launched, or attached to; and addresses of whatever else is proven.

mod any;
mod attach;
mod base_url;
mod command;
mod descendants;
mod embedded;
mod error;
mod exit;
mod launch;
mod listeners;
mod log;
mod port;
mod process;
mod pump;
mod running;
mod setup;

pub use any::Target;
pub use attach::Attached;
pub use base_url::{BaseUrl, BaseUrlError};
pub use command::{CommandError, CommandLine};
pub use embedded::{Embedded, Twist};
pub use error::StartError;
pub use exit::ExitInfo;
pub use launch::{Launch, PortName, PortNameError, Scheme};
pub use log::{LogLine, LogTail, Stream};
pub use port::HeldPort;
pub use running::RunningEdge;
pub use setup::{ALLOWED_ORIGIN, OTHER_ALLOWED_ORIGIN, Setup};
