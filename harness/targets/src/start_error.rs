use std::fmt;

use edgeproof_edge::EdgeError;
use edgeproof_http::{NoAnswer, ServerAddressError};
use edgeproof_launch::LaunchError;
use url::Url;

/// Why there is no edge to test.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program did not start.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// Nothing answers at the URL of the edge.
    #[error("cannot reach the edge at {url}: {observed}")]
    Unreachable {
        /// URL of the edge.
        url: Url,
        /// Result of the request.
        observed: NoAnswer,
    },
    /// The reference edge refuses its settings.
    #[error("cannot start the reference edge: {0}")]
    Embedded(#[from] EdgeError),
    /// The URL of the edge is unusable.
    #[error(transparent)]
    Address(#[from] ServerAddressError),
}

impl StartError {
    /// The last lines that a launched program wrote, redacted.
    pub fn last_output(&self) -> &[String] {
        match self {
            Self::Launch(error) => error.last_output(),
            _ => &[],
        }
    }
}

impl miette::Diagnostic for StartError {
    /// The last output of the edge, and what to do.
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        match self {
            Self::Address(ServerAddressError::CaFile { .. })
            | Self::Launch(LaunchError::Address(ServerAddressError::CaFile { .. })) => {
                Some(Box::new("--edge-ca takes a PEM file with the certificate of the issuing CA"))
            }
            Self::Launch(error) => error.help(),
            Self::Address(error) => error.help(),
            Self::Embedded(error) => error.help(),
            Self::Unreachable { observed: NoAnswer::NoTls(why), .. } => {
                Some(Box::new(why.advice("--edge-ca", "use http://")))
            }
            Self::Unreachable {
                url,
                observed: NoAnswer::NotHttp(_) | NoAnswer::Closed | NoAnswer::Reset,
            } if url.scheme() == "http" => {
                Some(Box::new("check that it speaks HTTP; if it speaks TLS, use https://"))
            }
            Self::Unreachable { .. } => {
                Some(Box::new("check the URL, and that the edge runs and this machine can reach it"))
            }
        }
    }
}
