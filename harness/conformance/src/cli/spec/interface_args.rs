use clap::Args;
use edgeproof_fixtures::spec::SpecChoice;

/// The interface that a command reads.
#[derive(Debug, Args)]
pub(super) struct InterfaceArgs {
    /// The interface: current, pre-seal, a folder of tables, or an overlay file
    #[arg(long, value_name = "SPEC", default_value_t)]
    pub(super) spec: SpecChoice,
}
