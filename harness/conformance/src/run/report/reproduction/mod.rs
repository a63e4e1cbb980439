//! What a case report offers to reproduce its failure: the exchanges, commands of curl, and the command that runs the
//! case again.

mod curl_commands;
mod rerun;
pub(super) mod transcript;

pub(super) use curl_commands::reproduce;
pub use rerun::RerunCommand;
pub(crate) use transcript::exchanges;
