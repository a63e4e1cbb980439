use std::io;
use std::path::PathBuf;
use std::time::Duration;

use edgeproof_launch::{BaseUrl, probe};
use tokio::time::timeout;

use super::running::Runs;
use super::{RunningEdge, StartError};
use edgeproof_http::{ServerAddress, ServerAddressError};

/// Longest wait for the address of a name.
const RESOLVE_LIMIT: Duration = Duration::from_secs(10);
/// Longest wait for an answer of an edge that is said to be running.
const PROBE_LIMIT: Duration = Duration::from_secs(5);

/// An edge that runs somewhere, started by somebody else with settings of their own.
#[derive(Debug, Clone)]
pub struct Attached {
    /// Where it is.
    pub url: BaseUrl,
    /// File with the authorities that may have issued its certificate; without one, those of the system.
    pub ca: Option<PathBuf>,
}

impl Attached {
    /// Proves that it answers HTTP, whatever the answer is.
    pub async fn start(&self) -> Result<RunningEdge, StartError> {
        let resolving = ServerAddress::resolve(self.url.as_url(), self.ca.as_deref());
        let endpoint =
            timeout(RESOLVE_LIMIT, resolving).await.map_err(|_| ServerAddressError::Unresolved {
                host: self.url.as_url().host_str().unwrap_or_default().to_owned(),
                why: io::ErrorKind::TimedOut.into(),
            })??;
        match probe(&endpoint, PROBE_LIMIT).await {
            Ok(()) => Ok(RunningEdge::new(endpoint, Runs::Elsewhere)),
            Err(saw) => Err(StartError::Unreachable { url: self.url.as_url().clone(), saw }),
        }
    }
}
