//! `edgeproof.toml`: a project's options and targets. Its keys are the options of `edgeproof conformance`.

mod document;
mod given;
mod in_force;
mod key;
mod merge;
#[cfg(test)]
mod schema;
mod show;
mod value;

pub(crate) use given::Given;
pub(crate) use in_force::{InForce, Positional, in_force};
#[cfg(test)]
pub(crate) use key::ConfigKey;
pub(crate) use show::{ConfigCommandArgs, main};

use clap::Args;

/// How a command uses `edgeproof.toml`.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Target of edgeproof.toml
    #[arg(
        long = "target",
        id = "config_target",
        value_name = "NAME",
        help_heading = "Configuration",
        conflicts_with = "no_config"
    )]
    pub(crate) target: Option<String>,
    /// Ignore edgeproof.toml
    #[arg(long, help_heading = "Configuration")]
    pub(crate) no_config: bool,
}
