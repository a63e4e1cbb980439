use clap::{Parser, Subcommand};

use super::conformance::ConformanceArgs;
use super::edge::EdgeArgs;
use super::mint::MintArgs;
use super::mock::MockArgs;
use super::spec::SpecArgs;

/// Conformance tests for the edge, the service and the key set of a browser verification service
#[derive(Debug, Parser)]
#[command(name = "edgeproof", version, max_term_width = 110)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Test an edge, a service or a key set
    Conformance(Box<ConformanceArgs>),
    /// Show the rows of the interface: statuses, reasons, bodies, limits and testable sentences
    Spec(SpecArgs),
    /// Make credentials and collections, valid or invalid, for tests with the mock service
    Mint(MintArgs),
    /// Run the mock service, for tests of edges and backends
    Mock(Box<MockArgs>),
    /// Run the reference edge, with its settings from the environment
    Edge(EdgeArgs),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn arguments_are_consistent() {
        Arguments::command().debug_assert();
    }
}
