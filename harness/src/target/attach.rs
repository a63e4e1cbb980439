use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use tokio::time::timeout;
use url::Url;

use super::launch::probe;
use super::running::Runs;
use super::{RunningEdge, StartError};
use crate::wire::{Endpoint, EndpointError};

/// Longest wait for the address of a name.
const RESOLVE_LIMIT: Duration = Duration::from_secs(10);
/// Longest wait for an answer of an edge that is said to be running.
const PROBE_LIMIT: Duration = Duration::from_secs(5);

/// An edge that runs somewhere, started by somebody else with settings of their own.
#[derive(Debug, Clone)]
pub struct Attached {
    /// Where it is.
    pub url: EdgeUrl,
    /// File with the authorities that may have issued its certificate; without one, those of the system.
    pub ca: Option<PathBuf>,
}

/// The address of an edge: `http` or `https`, a host, and where its paths begin below another one, that path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeUrl(Url);

/// A text that is not the address of an edge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("use {given:?} as the address of an edge: {why}")]
#[diagnostic(help("{advice}"))]
pub struct EdgeUrlError {
    given: String,
    why: String,
    advice: String,
}

impl Attached {
    /// Proves that it answers HTTP, whatever the answer is.
    pub async fn start(&self) -> Result<RunningEdge, StartError> {
        let resolving = Endpoint::resolve(&self.url.0, self.ca.as_deref());
        let endpoint = timeout(RESOLVE_LIMIT, resolving).await.map_err(|_| EndpointError::Unresolved {
            host: self.url.0.host_str().unwrap_or_default().to_owned(),
            why: io::ErrorKind::TimedOut.into(),
        })??;
        match probe(&endpoint, PROBE_LIMIT).await {
            Ok(()) => Ok(RunningEdge::new(endpoint, Runs::Elsewhere)),
            Err(saw) => Err(StartError::Unreachable { url: self.url.0.clone(), saw }),
        }
    }
}

impl EdgeUrl {
    /// The address.
    pub fn as_url(&self) -> &Url {
        &self.0
    }
}

impl FromStr for EdgeUrl {
    type Err = EdgeUrlError;

    fn from_str(given: &str) -> Result<Self, EdgeUrlError> {
        let refuse = |why: &str, advice: &str| EdgeUrlError {
            given: without_password(given),
            why: why.to_owned(),
            advice: advice.to_owned(),
        };
        let whole = "give a whole one, such as https://edge.example or http://127.0.0.1:8080";
        let mut url = Url::parse(given).map_err(|why| refuse(&why.to_string(), whole))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refuse("it is neither http nor https", whole));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse(
                "it holds a user name",
                "leave it out: the interface has none between page and edge",
            ));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refuse("it goes on after its path", "leave out what begins with ? or #"));
        }
        if url.port() == Some(0) {
            return Err(refuse("nobody can listen on port 0", whole));
        }
        let base = url.path().trim_end_matches('/').to_owned();
        if let Some(base) = base.strip_suffix("/v1/signals").or_else(|| base.strip_suffix("/health")) {
            url.set_path(base);
            let advice = format!("give the address that the interface's paths are below: {url}");
            return Err(refuse("it is the address of one of the edge's paths", &advice));
        }
        url.set_path(&base);
        Ok(Self(url))
    }
}

/// For messages.
fn without_password(given: &str) -> String {
    match (given.find("://"), given.rfind('@')) {
        (Some(scheme), Some(at)) if scheme + 3 <= at => format!("{}…{}", &given[..scheme + 3], &given[at..]),
        _ => given.to_owned(),
    }
}
