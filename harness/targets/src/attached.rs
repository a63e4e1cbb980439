use std::io;
use std::path::PathBuf;
use std::time::Duration;

use edgeproof_http::{ServerAddress, ServerAddressError};
use edgeproof_launch::{BaseUrl, probe};
use tokio::time::timeout;

use super::running_edge::{RunningEdge, Runs};
use super::start_error::StartError;

/// DNS resolution timeout.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of the first answer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// An edge that edgeproof did not start.
#[derive(Debug, Clone)]
pub struct Attached {
    /// Its base URL.
    pub url: BaseUrl,
    /// CA file for its certificate (default: system roots).
    pub ca: Option<PathBuf>,
    /// Path of the health check that tells whether it answers.
    pub ready_path: String,
}

impl Attached {
    /// Checks that the edge answers HTTP, with any status.
    pub async fn start(&self) -> Result<RunningEdge, StartError> {
        let resolving = ServerAddress::resolve(self.url.as_url(), self.ca.as_deref());
        let endpoint =
            timeout(RESOLVE_TIMEOUT, resolving).await.map_err(|_| ServerAddressError::Unresolved {
                host: self.url.as_url().host_str().unwrap_or_default().to_owned(),
                why: io::ErrorKind::TimedOut.into(),
            })??;
        match probe(&endpoint, &self.ready_path, PROBE_TIMEOUT).await {
            Ok(()) => Ok(RunningEdge::new(endpoint, self.ready_path.clone(), Runs::Elsewhere)),
            Err(observed) => Err(StartError::Unreachable { url: self.url.as_url().clone(), observed }),
        }
    }
}
