//! Edges that a command uses: arguments → pool options.

mod args;
mod options;

pub(super) use args::{EdgeTargetArgs, InterfaceArgs};
pub(super) use options::{EdgeSelection, edge_options, write_credentials};
