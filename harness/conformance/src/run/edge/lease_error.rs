use std::fmt;
use std::sync::Arc;

use edgeproof_targets::StartError;

/// Why a case gets no edge.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LeaseError {
    /// The edge did not start.
    #[error(transparent)]
    Start(#[from] Arc<StartError>),
    /// The mock service did not start. Holds the system's message.
    #[error("cannot start the mock service: {0}")]
    Service(String),
    /// A file in another form could not be written. Holds the system's message.
    #[error("cannot write the files of the settings: {0}")]
    Files(String),
}

impl miette::Diagnostic for LeaseError {
    /// The last output of the edge, and what to do.
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        match self {
            Self::Start(why) => why.help(),
            Self::Service(_) | Self::Files(_) => None,
        }
    }
}
