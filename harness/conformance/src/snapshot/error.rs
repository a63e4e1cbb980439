use std::io;

use edgeproof_fixtures::credentials::CredentialError;
use edgeproof_http::ServerAddressError;
use edgeproof_targets::StartError;

/// Why the rows of an interface cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// Credentials cannot be minted.
    #[error(transparent)]
    Mint(#[from] CredentialError),
    /// The mock service does not start, or credentials cannot be written.
    #[error("cannot start the mock service: {0}")]
    Service(#[from] io::Error),
    /// The reference edge does not start.
    #[error(transparent)]
    Edge(Box<StartError>),
    /// The mock service has no usable address.
    #[error(transparent)]
    Address(#[from] ServerAddressError),
    /// The cases of the edge's rows cannot run.
    #[error(transparent)]
    Cases(#[from] Box<dyn std::error::Error + Send + Sync>),
    /// The reference edge does not do what a row states.
    #[error("cannot show row {row}: the reference edge fails its case {case}: {because}")]
    Failed {
        /// Id of the row.
        row: String,
        /// Id of the case.
        case: String,
        /// Why it fails.
        because: String,
    },
    /// The mock service does not give the answer of a row.
    #[error("cannot show row {row}: to the stimulus {stimulus}, the mock service gives another answer")]
    OtherAnswer {
        /// Id of the row.
        row: String,
        /// Name of the stimulus.
        stimulus: &'static str,
    },
}

impl From<StartError> for SnapshotError {
    fn from(error: StartError) -> Self {
        Self::Edge(Box::new(error))
    }
}
