use std::path::PathBuf;

use super::edge_model::EdgeAction;
use super::saved::NamedSequence;
use super::service_step::ServiceAction;

/// A saved sequence for an edge.
pub type EdgeReplay = NamedSequence<EdgeAction>;
/// A saved sequence for a service.
pub type ServiceReplay = NamedSequence<ServiceAction>;

/// The random and the saved sequences of a run (`--explore`, `--save`, `--replay`).
#[derive(Debug, Clone, Default)]
pub struct SequencePlan {
    /// Number of random sequences.
    pub count: u32,
    /// Their seed.
    pub seed: u64,
    /// Folder for the shrunk failing sequences.
    pub save: Option<PathBuf>,
    /// Saved sequences for an edge.
    pub edge: Vec<EdgeReplay>,
    /// Saved sequences for a service.
    pub service: Vec<ServiceReplay>,
}
